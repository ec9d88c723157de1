import { AsyncLocalStorage } from "node:async_hooks";

/**
 * Names the plugin whose code is running, so that a stray rejection, a time-out or a `process.exit` can be laid at its door.
 * Source: spec decisions §9.5.
 */
const running = new AsyncLocalStorage<string>();

export const currentPlugin = (): string | undefined => running.getStore();

export const inPlugin = <T>(pluginId: string, work: () => T): T => running.run(pluginId, work);

/** The promise of a plugin did not settle in time. */
export class PluginTimeoutError extends Error {
  override readonly name = "PluginTimeoutError";
  constructor(what: string, ms: number) {
    super(`${what} did not finish within ${ms / 1000} s`);
  }
}

/** Runs a plugin's function under its name and a time limit. @throws what it throws, or PluginTimeoutError */
export async function callPlugin<T>(pluginId: string, what: string, limitMs: number, work: () => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new PluginTimeoutError(`${what} of plugin ${pluginId}`, limitMs)), limitMs);
  });
  try {
    return await Promise.race([inPlugin(pluginId, async () => work()), late]);
  } finally {
    clearTimeout(timer);
  }
}
