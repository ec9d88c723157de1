import { isPlainObject } from "./json-value.ts";

/** Keys and list indexes, from the root of the configuration. */
export type ConfigPath = readonly (string | number)[];

/** Names that reach into prototypes; refused at every path and dropped from every document. */
export const isUnsafeKey = (key: string): boolean =>
  key === "__proto__" || key === "constructor" || key === "prototype";

export class ConfigPathError extends Error {
  override readonly name = "ConfigPathError";
  readonly code = "bad-path";
}

/**
 * Parses `agents.list[0].id`; `\.` and `\[` are literal, `["a.b"]` quotes a key, all-digit dot segments stay strings.
 * @throws ConfigPathError on an empty segment, an open bracket or a prototype name
 */
export function parseConfigPath(text: string): (string | number)[] {
  const path: (string | number)[] = [];
  const bad = (why: string): never => {
    throw new ConfigPathError(`Config path "${text}": ${why}. Write it like agents.list[0].id.`);
  };
  let i = 0;
  let expectKey = true;
  while (i < text.length) {
    if (text[i] === "[") {
      const bracket = /^\[(?:(\d+)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\]"']+))\]/.exec(text.slice(i));
      if (!bracket) return bad(`"[" at position ${i + 1} has no index and "]"`);
      const quoted = bracket[2] ?? bracket[3];
      path.push(bracket[1] !== undefined ? Number(bracket[1]) : (quoted?.replace(/\\(.)/g, "$1") ?? bracket[4] ?? ""));
      i += bracket[0].length;
      expectKey = false;
    } else if (text[i] === "." && !expectKey) {
      i++;
      expectKey = true;
    } else {
      if (!expectKey) return bad(`a "." is missing at position ${i + 1}`);
      let key = "";
      while (i < text.length && text[i] !== "." && text[i] !== "[") {
        if (text[i] === "\\" && i + 1 < text.length) i++;
        key += text[i++];
      }
      if (key.trim() === "") return bad(`the key at position ${i + 1} is empty`);
      path.push(key);
      expectKey = false;
    }
  }
  if (expectKey) return bad(path.length === 0 ? "it is empty" : "it ends with a dot");
  const unsafe = path.find((segment) => typeof segment === "string" && isUnsafeKey(segment));
  if (unsafe !== undefined) return bad(`"${unsafe}" is not allowed`);
  return path;
}

/** The text of a path, such that parseConfigPath gives it back; "" for the root. Indexes are written `[0]`. */
export function formatConfigPath(path: ConfigPath): string {
  let text = "";
  for (const segment of path) {
    if (typeof segment === "number") text += `[${segment}]`;
    else {
      const key = segment.trim() === "" ? undefined : segment.replace(/[\\.[]/g, "\\$&");
      text += key === undefined ? `["${segment}"]` : (text === "" ? "" : ".") + key;
    }
  }
  return text;
}

/** The value at a path, or undefined. A digit string also indexes a list. */
export function getAtPath(root: unknown, path: ConfigPath): unknown {
  let value = root;
  for (const segment of path) {
    if (Array.isArray(value)) value = /^\d+$/.test(String(segment)) ? (value[Number(segment)] as unknown) : undefined;
    else if (isPlainObject(value)) value = Object.hasOwn(value, String(segment)) ? value[String(segment)] : undefined;
    else return undefined;
  }
  return value;
}

/** A copy of `root` with the value set; missing parents are made, lists where the next segment is a number. */
export function setAtPath(root: unknown, path: ConfigPath, value: unknown): unknown {
  const [segment, ...rest] = path;
  if (segment === undefined) return value;
  if (typeof segment === "string" && isUnsafeKey(segment))
    throw new ConfigPathError(`"${segment}" is not allowed in a config path`);
  const isIndex = /^\d+$/.test(String(segment));
  if (Array.isArray(root) ? isIndex : typeof segment === "number" && !isPlainObject(root)) {
    const list: unknown[] = Array.isArray(root) ? [...root] : [];
    const index = Math.min(Number(segment), list.length);
    list[index] = setAtPath(list[index], rest, value);
    return list;
  }
  const object = isPlainObject(root) ? root : {};
  const old = Object.hasOwn(object, String(segment)) ? object[String(segment)] : undefined;
  return { ...object, [segment]: setAtPath(old, rest, value) };
}

/** A copy without the value at the path; the same `root` when there is none. Parents stay. */
export function unsetAtPath(root: unknown, path: ConfigPath): unknown {
  const [segment, ...rest] = path;
  if (segment === undefined || getAtPath(root, path) === undefined) return root;
  if (Array.isArray(root)) {
    const index = Number(segment);
    if (rest.length > 0) return root.map((item: unknown, i) => (i === index ? unsetAtPath(item, rest) : item));
    return root.filter((_, i) => i !== index);
  }
  if (!isPlainObject(root)) return root;
  const copy = { ...root };
  if (rest.length > 0) copy[String(segment)] = unsetAtPath(copy[String(segment)], rest);
  else delete copy[String(segment)];
  return copy;
}
