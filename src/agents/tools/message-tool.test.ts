import { describe, expect, it } from "vitest";
import type { RunChannelContext } from "../pi-embedded-runner/run/params.ts";
import type { MessagingSend } from "../pi-embedded-runner/run/types.ts";
import type { ToolResult } from "./contract.ts";
import { createMessageTool, type MessageSendRequest, type MessageToolOptions } from "./message-tool.ts";

const current: RunChannelContext = { channel: "telegram", chatType: "direct", accountId: "default", to: "42", threadId: "7", messageId: "9", capabilities: [] };

function setup(more: Partial<MessageToolOptions> = {}) {
  const sent: MessageSendRequest[] = [];
  const acted: string[] = [];
  const sends: MessagingSend[] = [];
  const tool = createMessageTool({
    actions: {
      listActions: () => ["send", "broadcast", "react", "delete"],
      listChannels: () => ["telegram", "discord"],
      send: async (request) => {
        sent.push(request);
        return request.to === "gone" ? { ok: false, error: "chat not found" } : { ok: true, channel: request.channel, to: request.to, messageIds: ["1"] };
      },
      act: async ({ action, params }) => {
        acted.push(`${action}:${String(params["to"])}`);
        return { ok: true };
      },
    },
    current, isOwner: true, settings: undefined, files: { workspaceDir: "/ws" }, runId: "run", sessionKey: "agent:main:main", sends, ...more,
  });
  const call = (args: Record<string, unknown>): Promise<ToolResult> => tool.execute(args, { toolCallId: "call", signal: new AbortController().signal, onUpdate: () => undefined });
  return { call, sent, acted, sends };
}
const textOf = (result: ToolResult): string => result.content.map((block) => (block.type === "text" ? block.text : "")).join("");

describe("message tool", () => {
  it("answers in the current chat and thread when no target is named, under an id of its own", async () => {
    const { call, sent, sends } = setup();
    await call({ action: "send", message: "one\\ntwo <think>no</think>[[reply_to_current]]\nMEDIA:./a.png" });
    expect(sent).toMatchObject([{ id: "run:call", channel: "telegram", to: "42", threadId: "7", replyToId: "9", text: "one\ntwo", mediaUrls: ["./a.png"] }]);
    expect(sends).toMatchObject([{ channel: "telegram", to: "42", text: "one\ntwo" }]);
  });

  it("does not carry thread and reply of this chat into another one", async () => {
    const { call, sent } = setup();
    await call({ target: "77", message: "hi [[reply_to_current]]" });
    expect(sent[0]).toMatchObject({ to: "77", threadId: undefined, replyToId: undefined });
  });

  it("says what is missing or refused", async () => {
    const { call, sends } = setup();
    expect(textOf(await call({ message: " " }))).toBe("send requires text or media");
    expect(textOf(await call({ message: "x", media: "data:image/png;base64,AA" }))).toContain("data: URLs cannot be sent");
    expect(textOf(await call({ target: "gone", message: "x" }))).toBe("chat not found");
    expect(textOf(await setup({ current: undefined }).call({ channel: "telegram", message: "x" }))).toBe("Action send requires a target.");
    expect(textOf(await setup({ current: undefined }).call({ message: "x" }))).toBe("Action needs a channel.");
    expect(sends).toEqual([]);
  });

  it("stays on the platform of the chat unless the settings open the way", async () => {
    const denied = await setup().call({ channel: "discord", target: "1", message: "x" });
    expect(textOf(denied)).toBe('Cross-context messaging denied: action=send target provider "discord" while bound to "telegram".');
    for (const settings of [{ allowCrossContextSend: true }, { crossContext: { allowAcrossProviders: true } }]) {
      expect((await setup({ settings }).call({ channel: "discord", target: "1", message: "x" })).isError).toBeUndefined();
    }
    expect((await setup({ settings: { crossContext: { allowWithinProvider: false } } }).call({ target: "77", message: "x" })).isError).toBe(true);
  });

  it("tells several chats the same, and says who got it", async () => {
    const { call, sent } = setup({ settings: { crossContext: { allowAcrossProviders: true } } });
    const result = await call({ action: "broadcast", channel: "all", targets: ["77", "gone"], message: "Lunch is ready" });
    expect(sent.map(({ id, channel, to, text }) => [id, channel, to, text])).toEqual([
      ["run:call:0", "telegram", "77", "Lunch is ready"], ["run:call:1", "telegram", "gone", "Lunch is ready"], ["run:call:2", "discord", "77", "Lunch is ready"], ["run:call:3", "discord", "gone", "Lunch is ready"],
    ]);
    expect(JSON.parse(textOf(result))).toMatchObject({ results: [{ channel: "telegram", to: "77", ok: true }, { to: "gone", ok: false, error: "chat not found" }, { channel: "discord", ok: true }, { ok: false }] });
    expect(JSON.parse(textOf(await setup().call({ action: "broadcast", channel: "all", targets: ["1"], message: "x" })))).toMatchObject({ results: [{ ok: true }, { channel: "discord", ok: false, error: expect.stringContaining("denied") }] });
    expect(textOf(await call({ action: "broadcast", message: "x" }))).toBe("Action broadcast requires targets.");
    expect(textOf(await call({ action: "broadcast", targets: Array.from({ length: 51 }, (_, i) => String(i)), message: "x" }))).toContain("At most 50 messages");
    expect(textOf(await setup({ settings: { broadcast: { enabled: false } } }).call({ action: "broadcast", targets: ["1"], message: "x" }))).toBe("Broadcast is disabled. Set tools.message.broadcast.enabled to true.");
    expect(textOf(await setup({ isOwner: false }).call({ action: "broadcast", targets: ["42"], message: "x" }))).toMatch(/^Only the owner/);
  });

  it("sends a file that the model holds itself", async () => {
    const { call, sent } = setup();
    await call({ buffer: "data:text/plain;base64,aGk=", filename: "hi.txt" });
    expect(sent[0]?.attachment).toEqual({ bytes: Buffer.from("hi"), mimeType: "text/plain", fileName: "hi.txt" });
    expect(textOf(await call({ buffer: "a{b" }))).toBe("buffer must be base64 or a base64 data: URL.");
  });

  it("lets strangers act in their own chat only, whatever the action", async () => {
    const { call, sent, acted } = setup({ isOwner: false });
    for (const args of [{ target: "77", message: "x" }, { channel: "discord", target: "1", message: "x" }, { action: "delete", target: "77", messageId: "1" }, { action: "react", channel: "discord", target: "42" },
      { action: "delete", chatId: 77, messageId: "1" }, { action: "delete", target: "42", channelId: "77", messageId: "1" }]) {
      expect(textOf(await call(args))).toMatch(/^Only the owner may have/);
    }
    await call({ message: "hi" });
    await call({ action: "react", messageId: "9", emoji: "👍" });
    expect(sent.map((request) => request.to)).toEqual(["42"]);
    expect(acted).toEqual(["react:42"]);
  });
});
