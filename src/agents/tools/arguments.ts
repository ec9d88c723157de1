/** What models really send, turned into what the schema says. */
const ALIASES: Readonly<Record<string, string>> = {
  file_path: "path", filePath: "path", old_string: "oldText", new_string: "newText", old_text: "oldText", new_text: "newText",
};

/** Renames aliases, flattens block structures to text, turns numeric strings into numbers where the tool wants numbers. */
export function prepareFileArguments(args: Record<string, unknown>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(args)) out[ALIASES[key] ?? key] ??= value;
  for (const key of ["content", "oldText", "newText"]) if (out[key] !== undefined) out[key] = flattenText(out[key]);
  for (const key of ["offset", "limit", "timeout", "yieldMs"]) if (typeof out[key] === "string" && /^\d+$/.test(out[key])) out[key] = Number(out[key]);
  return out;
}

function flattenText(value: unknown, depth = 0): unknown {
  if (typeof value === "string" || depth > 6) return value;
  if (Array.isArray(value)) return value.map((item) => String(flattenText(item, depth + 1) ?? "")).join("");
  if (typeof value === "object" && value !== null) {
    for (const key of ["text", "content", "parts", "value"]) {
      if (key in value) return flattenText((value as Record<string, unknown>)[key], depth + 1);
    }
    return JSON.stringify(value);
  }
  return value;
}

/** @throws Error naming the parameter, with its other name */
export function requireString(args: Record<string, unknown>, name: string, alias?: string): string {
  const value = args[name];
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`Missing required parameter: ${name}${alias ? ` (${name} or ${alias})` : ""}. Supply correct parameters before retrying.`);
}

export function optionalString(args: Record<string, unknown>, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

export function optionalNumber(args: Record<string, unknown>, name: string): number | undefined {
  const value = args[name];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
