import { expect, it } from "vitest";
import type { UnderstoodMedia } from "../agents/index.ts";
import { admit, deriveMentionPatterns, type InboundMessage } from "../channels/contract/index.ts";
import type { InboxRow } from "../delivery/index.ts";
import { silentLogger } from "../infra/log.ts";
import { createHearing, isOnlySpoken, type HearingDeps } from "./hearing.ts";

const message: InboundMessage = {
  channel: "x", accountId: "default", messageId: "1", chat: { id: "c", type: "group" }, sender: { id: "7", name: "Eve" }, text: "", timestampMs: 5, from: "x:group:c", to: "c",
  media: [{ kind: "voice", ref: "f" }], mentions: { bot: false, anyone: false, implicit: false },
};
const row: InboxRow = {
  id: "r", seq: 1, runId: undefined, sessionKey: undefined, atMs: 0, attempts: 0, wasMentioned: false, isUnheard: true, message,
  authority: { source: "x", senderId: "7", isOwner: false, commandAuthorized: false },
};
const words = (transcript: string | undefined): UnderstoodMedia => ({ outcomes: [], decisions: [], fileBlocks: [], replaced: new Set(), transcript });

async function hear(name: string, over: Partial<HearingDeps> | string | undefined) {
  const talk: string[] = [];
  const finished: string[] = [];
  const heard = await createHearing({
    config: () => ({}), log: silentLogger, inbox: { finish: (ids) => void finished.push(...ids) }, history: { add: (_chat, line) => void talk.push(`${line.sender}: ${line.body}`) },
    agents: { models: { selectDefault: async () => ({ ref: { provider: "p", modelId: "m" }, source: "defaults" as const, reason: "test" }) } },
    downloadMedia: async () => ({ media: [{ path: "/f.ogg", mimeType: "audio/ogg" }], problem: undefined }),
    media: { understand: async () => words(typeof over === "object" ? undefined : over) },
    admit(asked, transcript) {
      const verdict = admit({
        message: asked, transcript, mentionPatterns: deriveMentionPatterns({ name }), normalizeEntry: (entry) => entry, pairedIds: [], commands: { isControlCommand: false, enabled: true, useAccessGroups: true },
        rules: { dmPolicy: "pairing", allowFrom: ["7"], groupAllowFrom: undefined, groupPolicy: "open", groupEnabled: true, groupListed: true, requireMention: true },
      });
      return verdict.kind === "history" ? { kind: "history", limit: 50, byName: true } : verdict;
    },
    ...(typeof over === "object" ? over : {}),
  })(row);
  return { heard, talk, finished };
}

it.each([
  ["C++ (test)", "hey c++ (test), what is up"], ["[a-z]*", "say [a-z]* now"], ["小爪", "请小爪讲个笑话"], ["Аня", "Аня, который час"], ["Big  Bot", "the big bot knows"],
])("the name %j is heard in %j", async (name, said) => {
  const { heard, talk, finished } = await hear(name, said);
  expect(heard).toMatchObject({ row: { id: "r", wasMentioned: true, authority: { commandAuthorized: true, isOwner: true } }, understood: { transcript: said }, files: [{ path: "/f.ogg" }] });
  expect([talk, finished]).toEqual([[], []]);
});

it.each([
  ["[a-z]*", "any old words"], ["Bot", "robots are bottled"], ["Аня", "Таня пришла"], ["小爪", "今天天气不错"], ["", "anything"], ["Bot", ""],
])("the name %j is not heard in %j, which is talk of the group", async (name, said) => {
  expect(await hear(name, said)).toEqual({ heard: undefined, talk: [`Eve: ${said || "<media>"}`], finished: ["r"] });
});

it("what cannot be fetched or put into words is talk without words, and nobody in the group is bothered", async () => {
  const silent = { heard: undefined, talk: ["Eve: <media>"], finished: ["r"] };
  const broken = (): Promise<never> => Promise.reject(new Error("out of order"));
  expect(await hear("Bot", undefined)).toEqual(silent);
  expect(await hear("Bot", { media: { understand: broken } })).toEqual(silent);
  expect(await hear("Bot", { downloadMedia: broken })).toEqual(silent);
  expect(await hear("Bot", { agents: { models: { selectDefault: broken } } })).toEqual(silent);
});

it("is asked of recordings alone", () => {
  expect(isOnlySpoken(message)).toBe(true);
  expect([{ ...message, text: "look" }, { ...message, media: [] }, { ...message, media: [...(message.media ?? []), { kind: "image" as const, ref: "p" }] }].map(isOnlySpoken)).toEqual([false, false, false]);
});
