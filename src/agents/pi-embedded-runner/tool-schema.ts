import type { TSchema } from "typebox";

type Schema = Readonly<Record<string, unknown>>;

/** What Gemini's function declarations refuse or ignore. Source: spec tools-and-automation §2. */
const NOT_FOR_GOOGLE: ReadonlySet<string> = new Set([
  "patternProperties", "additionalProperties", "$schema", "$id", "$defs", "definitions", "examples", "minLength", "maxLength", "minimum", "maximum", "multipleOf", "pattern", "format", "minItems", "maxItems",
  "uniqueItems", "minProperties", "maxProperties", "default", "$comment", "if", "then", "else", "not", "dependentRequired", "dependentSchemas", "propertyNames", "exclusiveMinimum", "exclusiveMaximum",
]);
/** References inside references, and levels, end here: a recursive schema cannot be written out. */
const MAX_REFS = 5;
const MAX_LEVELS = 40;

type SchemaModel = Parameters<typeof toolSchema>[1];

export interface KnownSchema {
  readonly schema: TSchema;
  /** As JSON. */
  readonly chars: number;
  readonly propertiesCount: number;
}

/** Schemas of the same parameters are made and measured once. */
export interface ToolSchemas {
  of(parameters: TSchema, model: SchemaModel): KnownSchema;
}

export function createToolSchemas(): ToolSchemas {
  const known = { google: new WeakMap<TSchema, KnownSchema>(), others: new WeakMap<TSchema, KnownSchema>() };
  return {
    of(parameters, model) {
      const family = isGoogle(model) ? known.google : known.others;
      const before = family.get(parameters);
      if (before) return before;
      const schema = toolSchema(parameters, model);
      const properties: unknown = "properties" in schema ? schema.properties : undefined;
      const made = { schema, chars: JSON.stringify(schema).length, propertiesCount: typeof properties === "object" && properties !== null ? Object.keys(properties).length : 0 };
      family.set(parameters, made);
      return made;
    },
  };
}

const isGoogle = ({ api, provider }: SchemaModel): boolean => api?.startsWith("google") === true || provider.startsWith("google");

/** The parameters of a tool as the provider of a model takes them. The same input gives the same bytes, for the prompt cache. */
export function toolSchema(parameters: TSchema, model: { readonly api?: string | undefined; readonly provider: string }): TSchema {
  const schema = mergeTopUnion(parameters as Schema);
  return isGoogle(model) ? forGoogle(schema, { root: schema, refs: 0, level: 0 }) : schema;
}

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null && !Array.isArray(value);
const branchesOf = (schema: Schema): readonly Schema[] | undefined => [schema["anyOf"], schema["oneOf"]].filter((list) => Array.isArray(list)).find((list) => list.length > 0)?.filter(isSchema);

/** Providers want one object at the top: its fields are those of all variants, required where all of them require it. */
function mergeTopUnion(schema: Schema): Schema {
  const branches = branchesOf(schema);
  if (!branches) return schema;
  const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
  const properties: Record<string, unknown> = isSchema(rest["properties"]) ? { ...rest["properties"] } : {};
  for (const branch of branches) {
    for (const [name, field] of Object.entries(isSchema(branch["properties"]) ? branch["properties"] : {})) properties[name] = name in properties ? mergeFields(properties[name], field) : field;
  }
  const inAll = requiredOf(branches[0]).filter((name) => branches.every((branch) => requiredOf(branch).includes(name)));
  const required = [...new Set([...requiredOf(rest), ...inAll])];
  const { required: _required, ...body } = rest;
  return { ...body, type: "object", properties, ...(required.length > 0 ? { required } : {}), additionalProperties: rest["additionalProperties"] ?? true };
}

const requiredOf = (schema: Schema | undefined): string[] => (Array.isArray(schema?.["required"]) ? schema["required"].map(String) : []);

function mergeFields(a: unknown, b: unknown): unknown {
  if (!isSchema(a) || !isSchema(b)) return a;
  const values = [...valuesOf(a), ...valuesOf(b)];
  if (valuesOf(a).length === 0 || valuesOf(b).length === 0) return a;
  const { const: _const, ...rest } = a;
  return { ...rest, enum: [...new Set(values)] };
}

const valuesOf = (schema: Schema): unknown[] => ("const" in schema ? [schema["const"]] : Array.isArray(schema["enum"]) ? schema["enum"] : []);

interface Place {
  readonly root: Schema;
  readonly refs: number;
  readonly level: number;
}

function forGoogle(schema: Schema, place: Place): Schema {
  if (place.refs > MAX_REFS || place.level > MAX_LEVELS) return { type: "object" };
  const next = { ...place, level: place.level + 1 };
  const followed = { ...next, refs: place.refs + 1 };
  const target = resolveRef(schema, place.root);
  if (target !== schema) return forGoogle({ ...target, ...described(schema) }, followed);
  const branches = (branchesOf(schema) ?? []).filter((branch) => branch["type"] !== "null");
  if (branches.length > 0) return forGoogle({ ...flatten(branches, place.root), ...described(schema) }, branches.some((branch) => "$ref" in branch) ? followed : next);
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (NOT_FOR_GOOGLE.has(key) || key === "anyOf" || key === "oneOf" || key === "$ref") continue;
    if (key === "const") out["enum"] = [value];
    else if (key === "type" && Array.isArray(value)) out["type"] = value.find((name) => name !== "null") ?? "string";
    else if (key === "properties" && isSchema(value)) out[key] = Object.fromEntries(Object.entries(value).map(([name, field]) => [name, isSchema(field) ? forGoogle(field, next) : field]));
    else if (key === "items") out[key] = isSchema(value) ? forGoogle(value, next) : { type: "string" };
    else if (key === "allOf" && Array.isArray(value)) Object.assign(out, ...value.filter(isSchema).map((part) => forGoogle(part, next)));
    else out[key] = value;
  }
  return "enum" in out && !("type" in out) ? { ...out, type: typeof (out["enum"] as unknown[])[0] === "number" ? "number" : "string" } : out;
}

/** Literals become one enum; of other variants the first one stands for all. */
function flatten(branches: readonly Schema[], root: Schema): Schema {
  const resolved = branches.map((branch) => resolveRef(branch, root));
  if (resolved.every((branch) => valuesOf(branch).length > 0)) return { enum: [...new Set(resolved.flatMap(valuesOf))] };
  if (resolved.every((branch) => isSchema(branch["properties"]))) return mergeTopUnion({ anyOf: resolved });
  return resolved[0] ?? {};
}

const described = (schema: Schema): Schema => (typeof schema["description"] === "string" ? { description: schema["description"] } : {});

/** Follows `#/a/b`; anything else is an unknown object. */
function resolveRef(schema: Schema, root: Schema): Schema {
  const ref = schema["$ref"];
  if (typeof ref !== "string") return schema;
  let at: unknown = root;
  for (const part of ref.startsWith("#/") ? ref.slice(2).split("/") : ["?"]) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isSchema(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return isSchema(at) ? at : { type: "object" };
}
