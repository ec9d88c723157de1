import { errorText } from "../infra/errors.ts";
import type { Logger } from "../infra/log.ts";
import { currentPlugin } from "./scope.ts";

/**
 * Keeps a plugin from ending the process: `process.exit` in its code is refused, a promise that it let fail is logged with its
 * name. The result undoes it. Source: spec decisions §9.5.
 */
export function guardProcess(log: Logger, onFault: (pluginId: string, text: string) => void): () => void {
  const exit = process.exit.bind(process);
  process.exit = (code) => {
    const plugin = currentPlugin();
    if (plugin === undefined) return exit(code);
    log.error(`plugin ${plugin} tried to end the process; refused`, { pluginId: plugin });
    onFault(plugin, "process.exit refused");
    throw new Error(`process.exit is not for plugins (${plugin})`);
  };
  const onStray = (err: unknown): void => {
    const plugin = currentPlugin();
    log.error(plugin === undefined ? `a promise was rejected and nobody waited for it: ${errorText(err)}` : `plugin ${plugin} let a promise fail: ${errorText(err)}`, { pluginId: plugin, err });
    if (plugin !== undefined) onFault(plugin, `unhandled rejection: ${errorText(err)}`);
  };
  process.on("unhandledRejection", onStray);
  return () => {
    process.exit = exit;
    process.off("unhandledRejection", onStray);
  };
}
