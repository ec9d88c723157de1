import type { McpServerConfig, OpenClawConfig } from "../../config/index.ts";
import { backoffDelayMs, sleep, type BackoffPolicy } from "../../infra/backoff.ts";
import type { Clock } from "../../infra/clock.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import type { AgentTool } from "../tools/contract.ts";
import { connectMcp, type McpConnection } from "./connection.ts";
import { toAgentTools } from "./tools.ts";

export interface McpServerStatus {
  readonly name: string;
  readonly state: "connected" | "connecting" | "failed" | "disabled";
  readonly tools: number;
  readonly error?: string | undefined;
}

export interface McpService {
  /** Connects what is configured and not connected; waits for it at most `timeoutMs`. Costs nothing without servers. */
  ready(timeoutMs: number): Promise<void>;
  /** Of the servers that are connected now. */
  tools(): AgentTool[];
  status(): McpServerStatus[];
  /** Call when `mcp` of the configuration changed: servers that changed are closed. */
  reload(): void;
  close(): Promise<void>;
}

export interface McpServiceOptions {
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
}

interface Slot {
  readonly key: string;
  connection: McpConnection | undefined;
  tools: readonly AgentTool[];
  connecting: Promise<void> | undefined;
  error: string | undefined;
  failures: number;
  notBeforeMs: number;
}

const RETRY: BackoffPolicy = { initialMs: 5000, maxMs: 5 * 60_000, factor: 2, jitter: 0.2 };

/** Servers of tools that other programs offer. Connected at the first run, each for itself. */
export function createMcpService(options: McpServiceOptions): McpService {
  const { clock, log } = options;
  const slots = new Map<string, Slot>();
  let stopping = new AbortController();

  const servers = (): [string, McpServerConfig][] => Object.entries(options.config().mcp?.servers ?? {}).filter(([, server]) => server.enabled !== false);

  function slotOf(name: string, server: McpServerConfig): Slot {
    const key = JSON.stringify(server);
    const known = slots.get(name);
    if (known?.key === key) return known;
    if (known) drop(known);
    const slot: Slot = { key, connection: undefined, tools: [], connecting: undefined, error: undefined, failures: 0, notBeforeMs: 0 };
    slots.set(name, slot);
    return slot;
  }

  function drop(slot: Slot): void {
    const { connection } = slot;
    slot.connection = undefined;
    slot.tools = [];
    connection?.close().catch((err: unknown) => log.debug("mcp server not closed", { err }));
  }

  function connect(name: string, server: McpServerConfig, slot: Slot): Promise<void> {
    slot.connecting ??= (async () => {
      try {
        const connection = await connectMcp({ name, server, version: options.version, log, signal: stopping.signal, onChange: () => drop(slot) });
        if (slots.get(name) !== slot || stopping.signal.aborted) return await connection.close();
        slot.connection = connection;
        slot.tools = toAgentTools(name, server, connection.tools, async (tool, args, signal) => {
          const current = slot.connection;
          if (!current?.isOpen()) throw new Error(`The MCP server ${name} is not connected; it is connected anew with the next message.`);
          return current.call(tool, args, signal);
        });
        slot.error = undefined;
        slot.failures = 0;
        log.info("mcp server connected", { server: name, tools: slot.tools.length });
      } catch (err) {
        slot.failures++;
        slot.notBeforeMs = clock.now() + backoffDelayMs(RETRY, slot.failures);
        slot.error = errorText(err);
        log.warn("mcp server cannot be reached", { server: name, error: slot.error, failures: slot.failures });
      } finally {
        slot.connecting = undefined;
      }
    })();
    return slot.connecting;
  }

  return {
    async ready(timeoutMs) {
      const waiting = servers().flatMap(([name, server]) => {
        const slot = slotOf(name, server);
        if (slot.connection?.isOpen()) return [];
        if (slot.connection) drop(slot);
        return slot.connecting !== undefined || clock.now() >= slot.notBeforeMs ? [connect(name, server, slot)] : [];
      });
      if (waiting.length > 0) await Promise.race([Promise.all(waiting), sleep(timeoutMs)]);
    },
    tools: () => servers().flatMap(([name]) => [...(slots.get(name)?.tools ?? [])]),
    status: () =>
      Object.entries(options.config().mcp?.servers ?? {}).map(([name, server]) => {
        const slot = slots.get(name);
        const state = server.enabled === false ? "disabled" : slot?.connection?.isOpen() ? "connected" : slot?.error !== undefined ? "failed" : "connecting";
        return { name, state, tools: slot?.tools.length ?? 0, ...(slot?.error === undefined ? {} : { error: slot.error }) };
      }),
    reload() {
      const wanted = new Map(servers());
      for (const [name, slot] of slots) {
        const server = wanted.get(name);
        if (server && JSON.stringify(server) === slot.key) continue;
        drop(slot);
        slots.delete(name);
      }
    },
    async close() {
      stopping.abort();
      const open = [...slots.values()].flatMap((slot) => (slot.connection ? [slot.connection] : []));
      slots.clear();
      await Promise.allSettled(open.map((connection) => connection.close()));
      stopping = new AbortController();
    },
  };
}
