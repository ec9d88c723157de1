/** Reading of tool arguments and making of tool results. Source: spec plugin-sdk §14. */

/** The arguments of a tool call are wrong; the text is for the model. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
  readonly status = 400;
}

type Params = Readonly<Record<string, unknown>>;

/** The value of `key`, or of its spelling with underscores. */
function rawParam(params: Params, key: string): unknown {
  if (Object.hasOwn(params, key)) return params[key];
  const snake = key.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2").toLowerCase();
  return snake !== key && Object.hasOwn(params, snake) ? params[snake] : undefined;
}

export interface StringParamOptions {
  readonly required?: boolean | undefined;
  /** Default true. */
  readonly trim?: boolean | undefined;
  readonly label?: string | undefined;
  readonly allowEmpty?: boolean | undefined;
}

/** @throws ToolInputError when it is required and absent */
export function readStringParam(params: Params, key: string, options: StringParamOptions & { readonly required: true }): string;
export function readStringParam(params: Params, key: string, options?: StringParamOptions): string | undefined;
export function readStringParam(params: Params, key: string, options: StringParamOptions = {}): string | undefined {
  const raw = rawParam(params, key);
  const value = typeof raw === "string" ? (options.trim === false ? raw : raw.trim()) : undefined;
  if (value !== undefined && (value !== "" || options.allowEmpty)) return value;
  if (options.required) throw new ToolInputError(`${options.label ?? key} required`);
  return undefined;
}

/** Numbers and texts of numbers. @throws ToolInputError when it is required and absent */
export function readNumberParam(params: Params, key: string, options: { required?: boolean | undefined; label?: string | undefined; integer?: boolean | undefined } = {}): number | undefined {
  const raw = rawParam(params, key);
  const parsed = typeof raw === "string" && raw.trim() !== "" ? Number.parseFloat(raw) : raw;
  if (typeof parsed === "number" && Number.isFinite(parsed)) return options.integer ? Math.trunc(parsed) : parsed;
  if (options.required) throw new ToolInputError(`${options.label ?? key} required`);
  return undefined;
}

export interface ReactionParams {
  readonly emoji: string;
  readonly remove: boolean;
  readonly isEmpty: boolean;
}

/** @throws ToolInputError `removeErrorMessage` when a reaction is to be removed and none is named */
export function readReactionParams(params: Params, options: { emojiKey?: string | undefined; removeKey?: string | undefined; removeErrorMessage: string }): ReactionParams {
  const removeKey = options.removeKey ?? "remove";
  const remove = params[removeKey] === true;
  const emoji = readStringParam(params, options.emojiKey ?? "emoji", { required: true, allowEmpty: true });
  if (remove && emoji === "") throw new ToolInputError(options.removeErrorMessage);
  return { emoji, remove, isEmpty: emoji === "" };
}

/** Which actions an account allows: what is not named is as `fallback` says, true by default. */
export function createActionGate<T extends Readonly<Record<string, boolean | undefined>>>(actions?: T): (key: keyof T, fallback?: boolean) => boolean {
  return (key, fallback = true) => actions?.[key] ?? fallback;
}

export interface JsonToolResult {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly details: unknown;
}

/** A tool's result as indented JSON, with the value itself beside it. */
export function jsonResult(value: unknown): JsonToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value, null, 2) ?? "null" }], details: value };
}

export interface EnumSchemaOptions {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly default?: string | undefined;
}

export interface StringEnumSchema extends EnumSchemaOptions {
  readonly type: "string";
  readonly enum: string[];
}

/** A schema that every provider takes, which a union of literals is not. */
export function stringEnum(values: readonly string[], options: EnumSchemaOptions = {}): StringEnumSchema {
  return { type: "string", enum: [...values], ...options };
}

const OPTIONAL_KINDS = ["~optional", Symbol.for("TypeBox.Optional")] as const;

/** `stringEnum` that both generations of TypeBox read as an optional property. */
export function optionalStringEnum(values: readonly string[], options: EnumSchemaOptions = {}): StringEnumSchema {
  const schema = stringEnum(values, options);
  for (const kind of OPTIONAL_KINDS) {
    Object.defineProperty(schema, kind, { value: kind === "~optional" ? true : "Optional", enumerable: typeof kind === "symbol" });
  }
  return schema;
}

/** The target of a message tool's `send`; null for any other action. */
export function extractToolSend(args: Params, expectedAction = "sendMessage"): { to: string; accountId?: string | undefined } | null {
  if (textOf(args["action"]) !== expectedAction) return null;
  const to = textOf(args["to"]);
  if (to === undefined) return null;
  const accountId = textOf(args["accountId"]);
  return accountId === undefined ? { to } : { to, accountId };
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);
