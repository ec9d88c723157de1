import { isSecretPath } from "../redact-config.ts";
import { type Constraints, type KeyNode, keyTable, type TypeAlt } from "./table.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface UiHint {
  readonly label?: string | undefined;
  readonly help?: string | undefined;
  readonly group?: string | undefined;
  readonly order?: number | undefined;
  readonly placeholder?: string | undefined;
  readonly sensitive?: boolean | undefined;
  readonly advanced?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface ConfigSchemaExport {
  readonly schema: JsonSchema;
  /** By path; `*` is any key of a map, `[]` a list item. */
  readonly uiHints: Readonly<Record<string, UiHint>>;
  readonly version: string;
  readonly generatedAt: string;
}

export interface ConfigSchemaOptions {
  readonly version: string;
  /** Channels whose subtree is shown; absent: all. */
  readonly channelIds?: ReadonlySet<string> | undefined;
  /** Schemas that plugins bring for their channels and settings. */
  readonly channelSchemas?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly pluginSchemas?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly now?: Date | undefined;
}

/** The `config.schema` answer: draft-07 from the key table, and hints for forms. */
export function exportConfigSchema(options: ConfigSchemaOptions): ConfigSchemaExport {
  const root = keyTable();
  const properties: Record<string, JsonSchema> = {};
  const uiHints: Record<string, UiHint> = {};
  let order = 0;
  for (const child of root.children.values()) {
    properties[child.name] = nodeSchema(child);
    if (child.name !== "$schema")
      uiHints[child.name] = { label: labelOf(child.name), group: child.name, order: (order += 10) };
    collectHints(child, child.name, child.name, uiHints, options.channelIds);
  }
  restrictChannels(properties, options);
  addPlugins(properties, options);
  return {
    schema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      title: "OpenClawConfig",
      type: "object",
      properties,
      additionalProperties: false,
    },
    uiHints,
    version: options.version,
    generatedAt: (options.now ?? new Date()).toISOString(),
  };
}

function nodeSchema(node: KeyNode): JsonSchema {
  const schemas = node.types.map((alt) => altSchema(alt, node));
  const [only] = schemas;
  const schema = schemas.length === 1 && only ? only : { anyOf: schemas };
  return node.defaultValue === undefined ? schema : { ...schema, default: node.defaultValue };
}

function altSchema(alt: TypeAlt, node: KeyNode): JsonSchema {
  if (alt.array) return { type: "array", items: altSchema({ ...alt, array: false }, node) };
  switch (alt.kind) {
    case "any":
      return {};
    case "str":
      return { type: "string", ...stringConstraints(node.constraints) };
    case "int":
    case "num":
      return { type: alt.kind === "int" ? "integer" : "number", ...numberConstraints(node.constraints) };
    case "bool":
      return { type: "boolean" };
    case "false":
      return { const: false };
    case "enum":
      return { type: "string", enum: alt.values };
    case "id":
      return { anyOf: [{ type: "string" }, { type: "number" }] };
    case "obj":
    case "map":
    case "open":
      return objectSchema(node, alt.kind);
  }
}

function objectSchema(node: KeyNode, kind: "obj" | "map" | "open"): JsonSchema {
  const children = [...node.children.values()];
  const required = children.filter((child) => child.required).map((child) => child.name);
  return {
    type: "object",
    ...(children.length > 0
      ? { properties: Object.fromEntries(children.map((child) => [child.name, nodeSchema(child)])) }
      : {}),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: node.rest ? nodeSchema(node.rest) : kind !== "obj",
  };
}

const stringConstraints = (c: Constraints): JsonSchema =>
  withoutUndefined({
    minLength: c.minLength,
    maxLength: c.maxLength,
    pattern: c.pattern,
    format: c.uri ? "uri" : undefined,
  });

const numberConstraints = (c: Constraints): JsonSchema =>
  withoutUndefined({ minimum: c.min, maximum: c.max, exclusiveMinimum: c.above, exclusiveMaximum: c.below });

const withoutUndefined = (object: Record<string, unknown>): JsonSchema =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

function collectHints(
  node: KeyNode,
  path: string,
  group: string,
  hints: Record<string, UiHint>,
  channelIds: ReadonlySet<string> | undefined,
): void {
  const base = node.types.some((alt) => alt.array && alt.kind === "obj") ? `${path}[]` : path;
  const visit = (child: KeyNode, childPath: string): void => {
    if (
      path === "channels" &&
      channelIds &&
      !channelIds.has(child.name) &&
      child.name !== "defaults" &&
      child.name !== "modelByChannel"
    )
      return;
    const sensitive = isSecretPath(childPath.replaceAll("[]", "").split("."));
    const isLeaf = child.children.size === 0 && child.rest === undefined;
    if (sensitive || isLeaf)
      hints[childPath] = {
        ...(child.name === "*" ? {} : { label: labelOf(child.name) }),
        group,
        ...(sensitive ? { sensitive: true } : {}),
      };
    collectHints(child, childPath, group, hints, channelIds);
  };
  for (const child of node.children.values()) visit(child, `${base}.${child.name}`);
  if (node.rest) visit(node.rest, `${base}.*`);
}

/** "botToken" → "Bot Token". */
const labelOf = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[-_]/g, " ")
    .replace(/\b[a-z]/g, (c) => c.toUpperCase());

function restrictChannels(properties: Record<string, JsonSchema>, options: ConfigSchemaOptions): void {
  const channels = properties["channels"] as { properties?: Record<string, JsonSchema> } & JsonSchema;
  const kept = Object.entries(channels.properties ?? {}).filter(
    ([id]) => !options.channelIds || options.channelIds.has(id) || id === "defaults" || id === "modelByChannel",
  );
  properties["channels"] = { ...channels, properties: { ...Object.fromEntries(kept), ...options.channelSchemas } };
}

function addPlugins(properties: Record<string, JsonSchema>, options: ConfigSchemaOptions): void {
  if (!options.pluginSchemas) return;
  const plugins = properties["plugins"] as {
    properties: {
      entries: { additionalProperties: { properties: JsonSchema } & JsonSchema } & JsonSchema;
    } & JsonSchema;
  } & JsonSchema;
  const { entries } = plugins.properties;
  const entry = entries.additionalProperties;
  const own = Object.entries(options.pluginSchemas).map(
    ([id, schema]) => [id, { ...entry, properties: { ...entry.properties, config: schema } }] as const,
  );
  properties["plugins"] = {
    ...plugins,
    properties: { ...plugins.properties, entries: { ...entries, properties: Object.fromEntries(own) } },
  };
}
