import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { PluginTimeoutError } from "../../plugins/index.ts";
import { createPluginRoutes } from "./plugin-routes.ts";

/** What becomes of one request: whether a handler took it. */
async function ask(routes: ReturnType<typeof createPluginRoutes>, headersSent = false): Promise<boolean | void> {
  const surface = routes.surfaces.find(({ name }) => name === "plugin-handlers");
  if (!surface?.matches("/x")) return false;
  return surface.handle({ req: {} as IncomingMessage, res: { headersSent } as ServerResponse, url: { path: "/x", query: new URLSearchParams(), search: "" }, client: {} as never, auth: undefined });
}

it("a handler that does not answer in time leaves the request to the next, and is not asked any more after the third time", async () => {
  const routes = createPluginRoutes();
  let asked = 0;
  let answers = false;
  routes.addHandler("mute", async () => {
    asked++;
    if (answers) return false;
    throw new PluginTimeoutError("http handler", 30_000);
  });
  expect(await ask(routes)).toBe(false);
  routes.addHandler("able", async () => true);
  expect(await ask(routes)).toBe(true);
  answers = true; // one answer, and it counts as awake again
  await ask(routes);
  answers = false;
  for (let i = 0; i < 5; i++) expect(await ask(routes)).toBe(true);
  expect(asked).toBe(6);
});

it("what a handler throws otherwise is an error, and an answer that has begun is nobody else's", async () => {
  const routes = createPluginRoutes();
  routes.addHandler("broken", async () => {
    throw new Error("no");
  });
  await expect(ask(routes)).rejects.toThrow("no");
  const begun = createPluginRoutes();
  begun.addHandler("slow", async () => {
    throw new PluginTimeoutError("http handler", 30_000);
  });
  await expect(ask(begun, true)).rejects.toThrow("did not finish");
});
