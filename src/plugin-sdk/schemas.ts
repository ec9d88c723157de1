import { z } from "zod";
import { keySchema, sectionSchema } from "./schema-of-keys.ts";

/** zod 4 objects that plugins build the schema of their channel from. Source: spec plugin-sdk §14. */

export const DmPolicySchema = z.enum(["pairing", "allowlist", "open", "disabled"]);
export const GroupPolicySchema = z.enum(["open", "disabled", "allowlist"]);
export const MarkdownTableModeSchema = z.enum(["off", "bullets", "code"]);
export const MarkdownConfigSchema = z.strictObject({ tables: MarkdownTableModeSchema.optional() }).optional();
export const DmConfigSchema = z.strictObject({ historyLimit: z.int().min(0).optional() });
export const BlockStreamingCoalesceSchema = z.strictObject({
  minChars: z.int().positive().optional(), maxChars: z.int().positive().optional(), idleMs: z.int().nonnegative().optional(),
});

/** `allow` and `alsoAllow` exclude each other: one replaces the list, the other adds to it. */
export const ToolPolicySchema = z
  .strictObject({ allow: z.array(z.string()).optional(), alsoAllow: z.array(z.string()).optional(), deny: z.array(z.string()).optional() })
  .superRefine((policy, ctx) => {
    if (policy.allow?.length && policy.alsoAllow?.length) ctx.addIssue({ code: "custom", message: "tools policy cannot set both allow and alsoAllow; put everything into allow, or only the additions into alsoAllow" });
  })
  .optional();

/** Keys that every channel with replies has; spread it into an object. */
export const ReplyRuntimeConfigSchemaShape = {
  historyLimit: z.int().min(0).optional(),
  dmHistoryLimit: z.int().min(0).optional(),
  dms: z.record(z.string(), DmConfigSchema.optional()).optional(),
  textChunkLimit: z.int().positive().optional(),
  chunkMode: z.enum(["length", "newline"]).optional(),
  blockStreaming: z.boolean().optional(),
  blockStreamingCoalesce: BlockStreamingCoalesceSchema.optional(),
  responsePrefix: z.string().optional(),
  mediaMaxMb: z.number().positive().optional(),
};

export const TtsProviderSchema = z.enum(["elevenlabs", "openai", "edge"]);
export const TtsModeSchema = z.enum(["final", "all"]);
export const TtsAutoSchema = z.enum(["off", "always", "inbound", "tagged"]);
export const TtsConfigSchema = keySchema("messages.tts").optional();

export const TelegramConfigSchema = sectionSchema("channels.telegram");
export const DiscordConfigSchema = sectionSchema("channels.discord");
export const SlackConfigSchema = sectionSchema("channels.slack");
export const SignalConfigSchema = sectionSchema("channels.signal");
export const IMessageConfigSchema = sectionSchema("channels.imessage");
export const WhatsAppConfigSchema = sectionSchema("channels.whatsapp");
export const GoogleChatConfigSchema = sectionSchema("channels.googlechat");
export const MSTeamsConfigSchema = sectionSchema("channels.msteams");
export const LineConfigSchema = sectionSchema("channels.line");

/** For `superRefine`: a policy of `open` without `*` in the list would admit nobody, and look as if it did. */
export function requireOpenAllowFrom(input: {
  readonly policy?: string | undefined;
  readonly allowFrom?: readonly (string | number)[] | undefined;
  readonly ctx: { addIssue(issue: { code: "custom"; path: (string | number)[]; message: string }): void };
  readonly path: (string | number)[];
  readonly message: string;
}): void {
  if (input.policy !== "open" || (input.allowFrom ?? []).some((entry) => String(entry).trim() === "*")) return;
  input.ctx.addIssue({ code: "custom", path: input.path, message: input.message });
}

export interface ChannelConfigSchema {
  readonly schema: Record<string, unknown>;
  readonly uiHints?: Readonly<Record<string, unknown>> | undefined;
}

/** JSON Schema draft-07 of a zod object, for `configSchema` of a channel; anything goes where zod cannot say it. */
export function buildChannelConfigSchema(schema: unknown): ChannelConfigSchema {
  const own = schema as { toJSONSchema?: (options: { target: string; unrepresentable: string; io: string }) => Record<string, unknown> } | undefined;
  try {
    // A plugin may bring a zod of its own: its method is asked first.
    const made = typeof own?.toJSONSchema === "function" ? own.toJSONSchema({ target: "draft-07", unrepresentable: "any", io: "output" }) : z.toJSONSchema(schema as z.ZodType, { target: "draft-07", unrepresentable: "any" });
    return { schema: made };
  } catch {
    return { schema: { type: "object", additionalProperties: true } }; // the shape cannot be told; the channel checks its config itself
  }
}

type SafeParse = { success: true; data?: unknown } | { success: false; error: { issues: { path: (string | number)[]; message: string }[] } };

export interface EmptyPluginConfigSchema {
  safeParse(value: unknown): SafeParse;
  readonly jsonSchema: Readonly<Record<string, unknown>>;
}

/** For plugins without settings: nothing, or an object without keys. */
export function emptyPluginConfigSchema(): EmptyPluginConfigSchema {
  const refuse = (message: string): SafeParse => ({ success: false, error: { issues: [{ path: [], message }] } });
  return {
    safeParse(value) {
      if (value === undefined) return { success: true, data: undefined };
      if (typeof value !== "object" || value === null || Array.isArray(value)) return refuse("expected config object");
      return Object.keys(value).length > 0 ? refuse("config must be empty") : { success: true, data: value };
    },
    jsonSchema: { type: "object", additionalProperties: false, properties: {} },
  };
}
