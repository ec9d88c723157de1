import { expect, it } from "vitest";
import { findLegacyKeys, LEGACY_RULES, migrateLegacyConfig } from "./legacy.ts";
import { keyTable } from "./schema/table.ts";
import { validateValue } from "./schema/validate.ts";

const OLD = {
  whatsapp: { allowFrom: ["+1"] },
  telegram: { botToken: "1:x", requireMention: true },
  identity: { name: "Bot" },
  agent: {
    model: "anthropic/claude",
    modelFallbacks: ["a/b"],
    allowedModels: ["a/b"],
    modelAliases: { fast: "a/b" },
    workspace: "~/w",
    bash: { timeoutSec: 5 },
    heartbeat: { every: "1h" },
  },
  routing: {
    bindings: [{ agentId: "a", match: { channel: "telegram", accountID: "x" } }],
    agents: { a: { name: "A" } },
    defaultAgentId: "a",
    groupChat: { historyLimit: 5 },
    transcribeAudio: { command: ["whisper", "x"] },
  },
  memorySearch: { enabled: true },
  gateway: { token: "t" },
  tools: { bash: { timeoutSec: 9 } },
};

it("names every old key with its new place", () => {
  const found = findLegacyKeys(OLD).map((finding) => finding.path.join("."));
  expect(found).toEqual(
    expect.arrayContaining([
      "whatsapp",
      "telegram.requireMention",
      "identity",
      "agent.model",
      "memorySearch",
      "gateway.token",
      "tools.bash",
      "routing.bindings",
    ]),
  );
  expect(findLegacyKeys({ gateway: { auth: { token: "x" } }, agents: {} })).toEqual([]);
});

it("moves them into a configuration that is valid", () => {
  const { config, changes } = migrateLegacyConfig(OLD);
  expect(findLegacyKeys(config)).toEqual([]);
  expect(config).toMatchObject({
    channels: {
      whatsapp: { allowFrom: ["+1"] },
      telegram: { botToken: "1:x", groups: { "*": { requireMention: true } } },
    },
    agents: {
      defaults: {
        model: { primary: "anthropic/claude", fallbacks: ["a/b"] },
        models: { "a/b": { alias: "fast" } },
        workspace: "~/w",
        memorySearch: { enabled: true },
      },
      list: [{ id: "a", name: "A", default: true, identity: { name: "Bot" } }],
    },
    bindings: [{ agentId: "a", match: { channel: "telegram", accountId: "x" } }],
    gateway: { auth: { token: "t" } },
    messages: { groupChat: { historyLimit: 5 } },
    tools: {
      exec: { timeoutSec: 5 },
      media: { audio: { models: [{ type: "cli", command: "whisper", args: ["x"] }] } },
    },
  });
  expect(changes).toContain("Moved gateway.token → gateway.auth.token.");
  expect(validateValue(config, keyTable()).map((found) => found.message)).toEqual([]);
});

it("keeps a value that already stands in the new place, and is done after one run", () => {
  const { config } = migrateLegacyConfig({ gateway: { token: "old", auth: { token: "new" } } });
  expect(config).toEqual({ gateway: { auth: { token: "new" } } });
  expect(migrateLegacyConfig(config).changes).toEqual([]);
  expect(LEGACY_RULES.length).toBeGreaterThan(20);
});
