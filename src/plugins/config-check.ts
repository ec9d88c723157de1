import { Errors } from "typebox/schema";
import type { PluginManifest } from "./types.ts";

/**
 * Faults of a plugin's settings against its JSON Schema, one sentence each; the value stays as it is (defaults are not
 * written into it). Source: spec plugin-sdk §4.
 */
export function checkPluginConfig(manifest: Pick<PluginManifest, "configSchema">, value: unknown): string[] {
  let result: ReturnType<typeof Errors>;
  try {
    result = Errors(manifest.configSchema, value);
  } catch (err) {
    return [`its configSchema cannot be used: ${err instanceof Error ? err.message : String(err)}`];
  }
  const [valid, errors] = result;
  if (valid) return [];
  // `boolean` only repeats what `additionalProperties` says with a name.
  return errors.filter(({ keyword }) => keyword !== "boolean").map(({ instancePath, message, params }) => {
    const place = instancePath.replace(/^\//, "").replaceAll("/", ".");
    const extra = "additionalProperties" in params ? params.additionalProperties : [];
    const about = extra.length > 0 ? `: ${extra.join(", ")}` : "";
    return `${place === "" ? "" : `${place}: `}${message}${about}`;
  });
}
