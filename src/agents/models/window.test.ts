import { expect, it } from "vitest";
import { startTestService } from "./service-fixture.ts";

const config = (contextWindow: number, contextTokens?: number) => ({
  agents: { defaults: contextTokens === undefined ? {} : { contextTokens } },
  models: { providers: { local: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "k", api: "openai-completions" as const, models: [{ id: "m", name: "M", contextWindow }] } } },
});
const ref = { provider: "local", modelId: "m" };

it("a window below 32,000 tokens is warned of once, one below 16,000 refused; agents.defaults.contextTokens caps it", async () => {
  await using small = await startTestService(config(20_000));
  expect((await small.models.prepare(ref, "main")).contextTokens).toBe(20_000);
  await small.models.prepare(ref, "main");
  expect(small.warnings.filter((text) => text.includes("window is small"))).toHaveLength(1);
  await using tiny = await startTestService(config(8000));
  await expect(tiny.models.prepare(ref, "main")).rejects.toMatchObject({ code: "window-too-small" });
  await using large = await startTestService(config(200_000, 64_000));
  expect((await large.models.prepare(ref, "main")).contextTokens).toBe(64_000);
  expect(large.warnings).toEqual([]);
});
