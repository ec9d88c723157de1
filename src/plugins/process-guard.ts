import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { currentPlugin } from "./scope.ts";

export interface ProcessGuardDeps {
  readonly log: Logger;
  /** The plugin whose code stands in the trace of this error. */
  ownerOf?(err: unknown): string | undefined;
  onFault(pluginId: string, text: string): void;
}

/**
 * Keeps a plugin from ending the process: `process.exit` in its code is refused; a promise that it let fail, and what one of its
 * timers or listeners throws, are logged with its name. The result undoes it. Source: spec decisions §9.5.
 */
export function guardProcess({ log, ownerOf, onFault }: ProcessGuardDeps): () => void {
  const exit = process.exit.bind(process);
  process.exit = (code) => {
    const plugin = currentPlugin();
    if (plugin === undefined) return exit(code);
    log.error(`plugin ${plugin} tried to end the process; refused`, { pluginId: plugin });
    onFault(plugin, "process.exit refused");
    throw new Error(`process.exit is not for plugins (${plugin})`);
  };
  const culprit = (err: unknown): string | undefined => currentPlugin() ?? ownerOf?.(err);
  const onStray = (err: unknown): void => {
    const plugin = culprit(err);
    log.error(plugin === undefined ? `a promise was rejected and nobody waited for it: ${errorText(err)}` : `plugin ${plugin} let a promise fail: ${errorText(err)}`, { pluginId: plugin, err });
    if (plugin !== undefined) onFault(plugin, `unhandled rejection: ${errorText(err)}`);
  };
  const onThrown = (err: unknown): void => {
    const plugin = culprit(err);
    if (plugin !== undefined) {
      log.error(`plugin ${plugin} threw where nobody catches: ${errorText(err)}`, { pluginId: plugin, err });
      onFault(plugin, `uncaught: ${errorText(err)}`);
      return;
    }
    // Not a plugin's: after a fault of our own nothing can be relied on, so it ends as it would without us.
    if (process.listeners("uncaughtException").some((listener) => listener !== onThrown)) return;
    log.error(`uncaught: ${errorText(err)}`, { err });
    throw err;
  };
  process.on("unhandledRejection", onStray);
  process.on("uncaughtException", onThrown);
  return () => {
    process.exit = exit;
    process.off("unhandledRejection", onStray);
    process.off("uncaughtException", onThrown);
  };
}
