import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writePlugin } from "../support/plugin.ts";
import { pluginWorld } from "../support/plugin-world.ts";
import { startFakeTelegram } from "../support/telegram-api/index.ts";

const BODY = `
import { join } from "node:path";
import { writeFileSync } from "node:fs";
export default { register(api) {
  api.registerCommand({ name: "chart", description: "Draws", handler: () => ({ text: "Here it is", mediaUrl: "chart.png", mediaUrls: ["chart.png", "/etc/hostname"] }) });
  api.registerCommand({ name: "speak", description: "Speaks", handler: () => ({ mediaUrl: "voice.ogg", audioAsVoice: true }) });
  api.registerCommand({ name: "quiet", description: "Says nothing", handler: () => undefined });
  api.registerHook("agent:bootstrap", async (event) => {
    const { context } = event;
    const soul = context.bootstrapFiles.find((file) => file.name === "SOUL.md");
    soul.content = soul.content.replace("calm", "merry") + "\\nseen by " + context.agentId + " in " + event.sessionKey;
    context.bootstrapFiles.push({ name: "HOUSE.md", path: "HOUSE.md", content: "House rule: no shoes." }, { name: "nowhere", content: "dropped" });
  }, { name: "house-rules" });
  api.registerHook("agent", (event) => { if (event.action === "bootstrap") event.context.bootstrapFiles = event.context.bootstrapFiles.filter((file) => file.name !== "TOOLS.md"); }, { name: "no-tools" });
  api.registerHook("agent:bootstrap", () => { throw new Error("no"); }, { name: "broken" });
} };`;

it("a plugin's command answers with files, and its hook changes what the agent knows from its workspace", async () => {
  await using telegram = await startFakeTelegram();
  await using w = await pluginWorld({
    async prepare(stateDir) {
      await writePlugin(join(stateDir, "extensions"), "artist", { "index.ts": BODY });
      const workspace = join(stateDir, "workspace");
      await mkdir(workspace, { recursive: true });
      await writeFile(join(workspace, "SOUL.md"), "You are calm.");
      await writeFile(join(workspace, "TOOLS.md"), "Nobody reads this.");
      await writeFile(join(workspace, "chart.png"), Buffer.from("89504e470d0a1a0a", "hex"));
      await writeFile(join(workspace, "voice.ogg"), "OggS");
    },
    plugins: { allow: ["artist"] },
    config: { hooks: { internal: { enabled: true } }, channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, dmPolicy: "allowlist", allowFrom: ["42"] } } },
  });
  expect(w.record("artist")).toMatchObject({ status: "loaded", hookNames: ["house-rules", "no-tools", "broken"] });

  telegram.text("/chart");
  await telegram.waitUntil(() => telegram.sent().length === 1);
  const [chart] = telegram.sent();
  expect(chart).toMatchObject({ method: "sendPhoto", file: { fileName: "chart.png" } });
  expect(chart?.text).toBe("Here it is\n\n⚠️ /etc/hostname could not be attached: only files of the workspace may be sent");
  telegram.text("/quiet");
  telegram.text("/speak");
  await telegram.waitUntil(() => telegram.sent().length === 2);
  expect(telegram.sent()[1]).toMatchObject({ method: "sendVoice", text: "", file: { fileName: "voice.ogg" } });

  expect(await w.ask("/chart")).toBe("Here it is\n\n📎 chart.png\n\n📎 /etc/hostname");
  expect(w.asked).toHaveLength(0);

  expect(await w.ask("who are you")).toBe("fine");
  const system = w.asked[0]?.system ?? "";
  expect(system).toContain("You are merry.\nseen by main in agent:main:main");
  expect(system).toContain("House rule: no shoes.");
  expect(system).not.toMatch(/Nobody reads this|dropped/);
  expect(system).toContain("AGENTS.md");
});
