/** Yardstick: the Pi SDK alone, one in-memory session, the same model. Prints the median turn in ms as JSON. */
import { AuthStorage, createAgentSession, ModelRegistry, SessionManager, SettingsManager } from "@mariozechner/pi-coding-agent";

const [url = "", turns = "40"] = process.argv.slice(2);
const authStorage = AuthStorage.inMemory();
authStorage.setRuntimeApiKey("stub", "key");
const { session } = await createAgentSession({
  cwd: process.cwd(), agentDir: "/nonexistent-pi-dir", authStorage, modelRegistry: ModelRegistry.inMemory(authStorage), noTools: "all", sessionManager: SessionManager.inMemory(),
  settingsManager: SettingsManager.inMemory({ compaction: { enabled: false }, retry: { enabled: false } }), thinkingLevel: "off",
  model: {
    id: "stub", name: "stub", api: "openai-completions", provider: "stub", baseUrl: url, reasoning: false, input: ["text"], contextWindow: 128_000, maxTokens: 8192,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  },
});
const times: number[] = [];
for (let i = 0; i < Number(turns); i++) {
  const from = performance.now();
  await session.prompt("ping");
  times.push(performance.now() - from);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ medianMs: times[Math.floor(times.length / 2)] }));
process.exit(0);
