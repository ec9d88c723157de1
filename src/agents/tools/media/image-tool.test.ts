import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { brokenProvider, fail, say, type Answer } from "../../../../test/support/broken-provider.ts";
import { createGuardedFetch } from "../../../infra/guarded-fetch.ts";
import { startTestService } from "../../models/service-fixture.ts";
import { loadPi } from "../../pi.ts";
import { createFileAccess } from "../file-access.ts";
import { createImageTool } from "./image-tool.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

async function world(answers: readonly Answer[], candidates: readonly string[] = ["blind/m", "eyes/v"]) {
  const provider = await brokenProvider(...answers);
  const model = (id: string, input: string[]): object => ({ id, name: id, contextWindow: 32_000, maxTokens: 2048, input });
  const base = { baseUrl: provider.url, apiKey: "k", api: "openai-completions" };
  const service = await startTestService({ models: { providers: { blind: { ...base, models: [model("m", ["text"])] }, eyes: { ...base, models: [model("v", ["text", "image"])] } } } } as never);
  const workspaceDir = await mkdtemp(join(tmpdir(), "image-"));
  await writeFile(join(workspaceDir, "a.png"), PNG);
  await writeFile(join(workspaceDir, "b.txt"), "no picture");
  const tool = createImageTool({
    access: createFileAccess({ workspaceDir, stateDir: join(workspaceDir, "s"), workspaceOnly: true, readRoots: [] }), fetch: createGuardedFetch(), agentId: "main", models: service.models, pi: loadPi, candidates, maxSidePx: 1200,
  });
  return {
    provider,
    run: async (args: Record<string, unknown>) => {
      const result = await tool.execute(args, { toolCallId: "c", signal: new AbortController().signal, onUpdate: () => undefined });
      return { text: result.content.map((block) => (block.type === "text" ? block.text : "")).join(""), details: result.details };
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await rm(workspaceDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

it("has the first model that can see look at the pictures", async () => {
  await using w = await world([say("A red dot.")]);
  expect(await w.run({ image: "a.png", prompt: "What is it?", images: ["a.png", `data:image/png;base64,${PNG.toString("base64")}`] })).toEqual({
    text: "A red dot.", details: { model: "eyes/v", images: ["a.png", `data:image/png;base64,${PNG.toString("base64")}`], attempts: [{ provider: "blind", model: "m", error: "blind/m cannot see pictures" }] },
  });
  const sent = JSON.stringify(w.provider.bodies[0]?.messages);
  expect(sent).toContain("What is it?");
  expect(sent.match(/image_url"/g)).toHaveLength(4); // type and field, of two pictures
});

it("says what it tried when nobody can look, and what a picture must be", async () => {
  await using w = await world([fail(401, "bad key")]);
  await expect(w.run({ image: "a.png" })).rejects.toThrow(/^No model could look at the picture\. blind\/m: blind\/m cannot see pictures \| eyes\/v: .*401.*imageModel\.$/);
  await expect(w.run({ image: "b.txt" })).rejects.toThrow("unsupported_image_reference: b.txt");
  await expect(w.run({ image: "../x.png" })).rejects.toThrow("outside the workspace");
  await expect(w.run({ image: "http://127.0.0.1:1/a.png" })).rejects.toThrow("not on the public internet");
  await expect(w.run({ image: "ftp://x/a.png" })).rejects.toThrow("is no file, http(s) URL or data: URL");
  await expect(w.run({})).rejects.toThrow("Missing required parameter: image");
  await expect(w.run({ images: Array.from({ length: 21 }, (_, i) => `${i}.png`) })).rejects.toThrow("too_many_images: 21");
});
