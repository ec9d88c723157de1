import { z } from "zod";
import { findNode, type KeyNode, type TypeAlt } from "../config/index.ts";

/**
 * zod objects made from the product's table of config keys, so that plugins which extend the schema of a channel and the
 * product agree on it. Objects read the table when they are first used.
 */

/** The closed object at a path of the config, e.g. `channels.slack`. @throws Error when the table has no such section */
export function sectionSchema(path: string): z.ZodObject {
  return objectSchema(nodeAt(path), true);
}

/** Of one key. @throws Error when the table has no such key */
export const keySchema = (path: string): z.ZodType => nodeSchema(nodeAt(path));

function nodeAt(path: string): KeyNode {
  const node = findNode(path.split("."));
  if (!node) throw new Error(`no config key ${path}`);
  return node;
}

function objectSchema(node: KeyNode, closed: boolean): z.ZodObject {
  const shape: Record<string, z.ZodType> = {};
  for (const child of node.children.values()) {
    Object.defineProperty(shape, child.name, { enumerable: true, get: () => propertySchema(child) });
  }
  if (node.rest) return z.object(shape).catchall(nodeSchema(node.rest));
  return closed ? z.strictObject(shape) : z.looseObject(shape);
}

function propertySchema(node: KeyNode): z.ZodType {
  const schema = nodeSchema(node);
  if (node.defaultValue !== undefined) return schema.optional().default(node.defaultValue);
  return node.required ? schema : schema.optional();
}

function nodeSchema(node: KeyNode): z.ZodType {
  const [first, second, ...more] = node.types.map((alt) => altSchema(alt, node));
  if (!first) return z.unknown();
  return second ? z.union([first, second, ...more]) : first;
}

function altSchema(alt: TypeAlt, node: KeyNode): z.ZodType {
  if (alt.array) return z.array(altSchema({ ...alt, array: false }, node));
  switch (alt.kind) {
    case "str":
      return stringSchema(node);
    case "int":
    case "num":
      return numberSchema(node, alt.kind === "int");
    case "bool":
      return z.boolean();
    case "false":
      return z.literal(false);
    case "enum":
      return z.enum(alt.values as [string, ...string[]]);
    case "id":
      return z.union([z.string(), z.number()]);
    case "any":
      return z.unknown();
    case "obj":
      return objectSchema(node, true);
    case "map":
      return node.children.size === 0 && node.rest ? z.record(z.string(), nodeSchema(node.rest).optional()) : objectSchema(node, false);
    case "open":
      return node.children.size === 0 && !node.rest ? z.record(z.string(), z.unknown()) : objectSchema(node, false);
  }
}

function stringSchema({ constraints: c }: KeyNode): z.ZodType {
  let schema = z.string();
  if (c.minLength !== undefined) schema = schema.min(c.minLength);
  if (c.maxLength !== undefined) schema = schema.max(c.maxLength);
  if (c.pattern !== undefined) schema = schema.regex(new RegExp(c.pattern));
  return c.uri ? schema.refine((text) => URL.canParse(text), "must be a URL") : schema;
}

function numberSchema({ constraints: c }: KeyNode, integer: boolean): z.ZodType {
  let schema: z.ZodNumber = integer ? z.int() : z.number();
  if (c.min !== undefined) schema = schema.min(c.min);
  if (c.max !== undefined) schema = schema.max(c.max);
  if (c.above !== undefined) schema = schema.gt(c.above);
  if (c.below !== undefined) schema = schema.lt(c.below);
  return schema;
}
