import { expect, it } from "vitest";
import { z } from "zod";
import * as sdk from "./index.ts";

it("a channel's schema is that of the product's config, and closed", () => {
  expect(sdk.SlackConfigSchema.safeParse({ botToken: "x", channels: { "#ops": { requireMention: true } }, accounts: { two: { botToken: "y" } } }).success).toBe(true);
  expect(sdk.SlackConfigSchema.safeParse({ botTokn: "x" }).success).toBe(false);
  expect(sdk.TelegramConfigSchema.safeParse({ historyLimit: -1 }).success).toBe(false);
  expect(sdk.SignalConfigSchema.parse({})).toMatchObject({ dmPolicy: "pairing", groupPolicy: "allowlist" });
});

it.each([["discord", sdk.DiscordConfigSchema], ["imessage", sdk.IMessageConfigSchema], ["whatsapp", sdk.WhatsAppConfigSchema], ["googlechat", sdk.GoogleChatConfigSchema], ["msteams", sdk.MSTeamsConfigSchema], ["line", sdk.LineConfigSchema]])(
  "%s can be shown as a form", (_id, schema) => {
    const { schema: json } = sdk.buildChannelConfigSchema(schema);
    expect(json).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#", type: "object" });
    expect(Object.keys(json["properties"] as object)).toContain("enabled");
  },
);

it("plugins extend a schema with keys of their own", () => {
  const own = sdk.SlackConfigSchema.extend({ extra: z.string() });
  expect(own.safeParse({ extra: "x", enabled: true }).success).toBe(true);
  const shape = z.object({ ...sdk.ReplyRuntimeConfigSchemaShape, markdown: sdk.MarkdownConfigSchema, dmPolicy: sdk.DmPolicySchema.optional(), tools: sdk.ToolPolicySchema });
  expect(shape.safeParse({ textChunkLimit: 10, markdown: { tables: "code" }, dmPolicy: "open", tools: { allow: ["a"] } }).success).toBe(true);
  expect(shape.safeParse({ tools: { allow: ["a"], alsoAllow: ["b"] } }).success).toBe(false);
  expect(sdk.TtsConfigSchema.safeParse({ provider: "openai", openai: { voice: "v" } }).success).toBe(true);
});

it("an open door without a star in the list is refused", () => {
  const schema = z.object({ dmPolicy: z.string(), allowFrom: z.array(z.string()).optional() }).superRefine((value, ctx) =>
    sdk.requireOpenAllowFrom({ policy: value.dmPolicy, allowFrom: value.allowFrom, ctx, path: ["allowFrom"], message: 'needs "*"' }));
  expect(schema.safeParse({ dmPolicy: "open" }).error?.issues[0]).toMatchObject({ path: ["allowFrom"], message: 'needs "*"' });
  expect(schema.safeParse({ dmPolicy: "open", allowFrom: ["*"] }).success).toBe(true);
});

it("what zod cannot say is left open", () => {
  expect(sdk.buildChannelConfigSchema({ no: "zod" })).toEqual({ schema: { type: "object", additionalProperties: true } });
});
