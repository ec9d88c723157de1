import { z } from "zod";
import { errorText } from "../../../infra/errors.ts";
import type { ChannelAgentTool } from "../../contract/index.ts";
import type { LarkApi, Query } from "../api.ts";
import type { LarkAccount, LarkConfig } from "../config.ts";

export type ToolFlag = keyof NonNullable<LarkConfig["tools"]>;

/** One call of a tool: the platform for the account of the run. */
export interface ToolCall {
  readonly account: LarkAccount;
  /** `data` of the answer; waits out rate limits. @throws LarkError */
  call(method: string, path: string, what: string, rest?: { readonly query?: Query | undefined; readonly body?: object | undefined }): Promise<unknown>;
  readonly signal: AbortSignal | undefined;
}

export interface LarkTool {
  readonly flag: ToolFlag;
  /** The tool for one account. */
  bind(account: LarkAccount, api: LarkApi): ChannelAgentTool;
}

/** What a model gave cannot be used; the text tells it what to give. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
}

export interface ToolDefinition<Schema extends z.ZodObject> {
  readonly name: string;
  readonly flag: ToolFlag;
  readonly description: string;
  readonly params: Schema;
  readonly ownerOnly?: boolean | undefined;
  run(params: z.output<Schema>, call: ToolCall): Promise<unknown>;
}

/** Results are JSON text; failures are `{error}`. Source: spec channels-cn §4.6. */
export function defineTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): LarkTool {
  const { name, flag, description, params, ownerOnly = false } = definition;
  let schema: ChannelAgentTool["parameters"] | undefined;
  const parameters = (): ChannelAgentTool["parameters"] => {
    if (schema) return schema;
    const { $schema: _schema, additionalProperties: _open, ...rest } = z.toJSONSchema(params, { io: "input" });
    return (schema = rest);
  };
  const text = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value, null, 2) }], details: value });
  return {
    flag,
    bind: (account, api) => ({
      name, label: name, description, parameters: parameters(), ownerOnly,
      async execute(_toolCallId, given, signal) {
        const parsed = params.safeParse(given);
        if (!parsed.success) return text({ error: z.prettifyError(parsed.error) });
        try {
          const result = await definition.run(parsed.data, {
            account, signal,
            call: (method, path, what, rest = {}) => api.call(method, path, { what, ...rest, signal, patient: true }),
          });
          return text(result ?? {});
        } catch (err) {
          return text({ error: errorText(err) });
        }
      },
    }),
  };
}

/** @throws ToolInputError naming what is missing */
export function need<T>(value: T | undefined, name: string, action: string): T {
  if (value === undefined || value === "") throw new ToolInputError(`action "${action}" needs ${name}`);
  return value;
}

/** One part of a path. */
export const segment = (id: string): string => encodeURIComponent(id);

/** An answer as the tool expects it; the platform's own words otherwise. */
export const asRecord = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
