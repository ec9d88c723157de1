import { type KeyNode, type TypeAlt, isContainer, keyTable } from "./table.ts";

const HEADER = `// Made from schema/keys.ts by schema/generate-types.ts; do not edit.
// Every field is optional, except required fields of list items. Values are those of the effective, frozen configuration.
`;

/** Named keys of these maps have schemas of their own but share the type of the other entries. */
const UNIFORM_MAPS: ReadonlySet<string> = new Set(["plugins.entries"]);

/** The text of types.generated.ts. */
export function generateTypes(root: KeyNode = keyTable()): string {
  const writer = new TypeWriter();
  writer.interfaceFor(root, [], "OpenClawConfig");
  return `${HEADER}\n${writer.declarations.join("\n\n")}\n`;
}

class TypeWriter {
  readonly declarations: string[] = [];
  readonly #bySignature = new Map<string, string>();
  readonly #names = new Set<string>();

  /** Declares the object type of a node, or finds an equal one declared for a key of the same name. */
  interfaceFor(node: KeyNode, path: readonly string[], name?: string, isItem = false): string {
    const body = this.#fields(node, path, isItem);
    const signature = `${node.name}\n${body}`;
    const known = this.#bySignature.get(signature);
    if (known !== undefined) return known;
    const chosen = this.#freeName(name ?? `${path.map(pascal).join("")}Config`);
    this.#bySignature.set(signature, chosen);
    this.declarations.push(`export interface ${chosen} {\n${body}\n}`);
    return chosen;
  }

  #fields(node: KeyNode, path: readonly string[], isItem: boolean): string {
    const lines: string[] = [];
    const seen = new Set<string>();
    const uniform = UNIFORM_MAPS.has(path.join("."));
    for (const child of uniform ? [] : node.children.values()) {
      const type = this.#typeOf(child, [...path, child.name]);
      seen.add(type);
      const key = /^[A-Za-z_$][\w$]*$/.test(child.name) ? child.name : JSON.stringify(child.name);
      lines.push(child.required && isItem ? `  readonly ${key}: ${type};` : `  readonly ${key}?: ${type} | undefined;`);
    }
    const isOpen = node.types.some((alt) => alt.kind === "open");
    if (isOpen) lines.push("  readonly [key: string]: unknown;");
    else if (node.rest) {
      const rest = this.#typeOf(node.rest, [...path.slice(0, -1), singular(path.at(-1) ?? "")]);
      lines.push(
        `  readonly [key: string]: ${[...new Set([rest, ...seen])].join(" | ")}${seen.size > 0 ? " | undefined" : ""};`,
      );
    }
    return lines.join("\n");
  }

  #typeOf(node: KeyNode, path: readonly string[]): string {
    return [...new Set(node.types.map((alt) => this.#altType(node, alt, path)))].join(" | ");
  }

  #altType(node: KeyNode, alt: TypeAlt, path: readonly string[]): string {
    if (alt.array) {
      const itemPath = [...path.slice(0, -1), singular(path.at(-1) ?? "")];
      return `readonly ${alt.kind === "obj" ? this.interfaceFor(node, itemPath, undefined, true) : wrap(scalarType(alt))}[]`;
    }
    if (!isContainer(alt)) return scalarType(alt);
    if (alt.kind === "open" && node.children.size === 0) return "Readonly<Record<string, unknown>>";
    if (node.children.size === 0 && node.rest) {
      return `Readonly<Record<string, ${this.#typeOf(node.rest, [...path.slice(0, -1), singular(path.at(-1) ?? "")])}>>`;
    }
    if (UNIFORM_MAPS.has(path.join(".")) && node.rest) {
      return `Readonly<Record<string, ${this.#typeOf(node.rest, [...path.slice(0, -1), singular(path.at(-1) ?? "")])}>>`;
    }
    return this.interfaceFor(node, path);
  }

  #freeName(wanted: string): string {
    let name = wanted;
    for (let i = 2; this.#names.has(name); i++) name = `${wanted}${i}`;
    this.#names.add(name);
    return name;
  }
}

function scalarType(alt: TypeAlt): string {
  switch (alt.kind) {
    case "str":
      return "string";
    case "int":
    case "num":
      return "number";
    case "bool":
      return "boolean";
    case "false":
      return "false";
    case "enum":
      return alt.values.map((value) => JSON.stringify(value)).join(" | ");
    case "id":
      return "string | number";
    case "any":
    case "obj":
    case "map":
    case "open":
      return "unknown";
  }
}

const wrap = (type: string): string => (type.includes("|") ? `(${type})` : type);

const pascal = (name: string): string =>
  name
    .replace(/^\$/, "")
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

function singular(name: string): string {
  if (name.endsWith("ies")) return `${name.slice(0, -3)}y`;
  return /[^s]s$/.test(name) ? name.slice(0, -1) : `${name}Entry`;
}

if (import.meta.main && process.argv.includes("--write")) {
  const { writeFile } = await import("node:fs/promises");
  await writeFile(new URL("../types.generated.ts", import.meta.url), generateTypes());
}
