import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answeringModel, type Asked, type Reply } from "./answering-model.ts";
import { connectClient } from "./client.ts";
import { startTestGateway } from "./gateway.ts";

interface WorldInput {
  readonly answer?: (asked: Asked, call: number) => Reply;
  readonly plugins?: object;
  readonly config?: object;
  prepare(stateDir: string): Promise<unknown>;
}

/** A gateway with plugins in its state folder, and a client. */
export async function pluginWorld(input: WorldInput) {
  const stack = new AsyncDisposableStack();
  let call = 0;
  const model = stack.use(await answeringModel((asked) => input.answer?.(asked, call++) ?? "fine"));
  const stateDir = await mkdtemp(join(tmpdir(), "plugins-"));
  stack.defer(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }));
  await input.prepare(stateDir);
  const g = stack.use(
    await startTestGateway({
      stateDir,
      config: {
        gateway: { mode: "local", auth: { mode: "token", token: "T" } }, models: { providers: model.providers }, messages: { queue: { debounceMs: 0 } }, plugins: input.plugins ?? {},
        agents: { defaults: { workspace: join(stateDir, "workspace"), model: { primary: "mock/m" }, heartbeat: { every: "0m" } } }, ...input.config,
      },
    }),
  );
  await g.gateway.ready;
  const client = stack.use(await connectClient(g.url, g.token));
  const list = () => g.gateway.context.plugins.list();
  return {
    ask: async (text: string): Promise<string> => (await client.chat(text)).text ?? "",
    g, client, asked: model.asked, stateDir, list,
    record: (id: string) => list().plugins.find((plugin) => plugin.id === id),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
