import type { ModelService } from "../agents/index.ts";
import type { ChannelPlugin } from "../channels/contract/index.ts";
import type { ConfigSnapshot } from "../config/index.ts";
import { systemClock } from "../infra/clock.ts";
import type { AgentRoots } from "../routing/index.ts";
import type { SessionService } from "../sessions/index.ts";
import type { Cli } from "./cli.ts";
import { createCliLogger } from "./config-access.ts";

/** Rooms as a command uses them without a gateway. Each is loaded when it is asked for. */

export const agentRoots = (cli: Cli): AgentRoots => ({ stateDir: cli.paths.stateDir, workspaceDir: cli.paths.defaultWorkspace });

/** For reading: what a running gateway has not written yet (at most a second) is not seen. */
export async function openSessions(cli: Cli, snapshot: ConfigSnapshot): Promise<SessionService> {
  const { createSessionService } = await import("../sessions/index.ts");
  return createSessionService({ config: () => snapshot.config, roots: agentRoots(cli), clock: systemClock, log: createCliLogger(cli), withLock: (_path, write) => write() });
}

export async function openModels(cli: Cli, snapshot: ConfigSnapshot): Promise<ModelService> {
  const { createModelService } = await import("../agents/index.ts");
  const { resolveAgent } = await import("../routing/index.ts");
  return createModelService({
    config: () => snapshot.config, env: snapshot.env.vars, stateDir: cli.paths.stateDir, agentDir: (id) => resolveAgent(snapshot.config, id, agentRoots(cli)).agentDir,
    clock: systemClock, log: createCliLogger(cli), probeLocalhost: cli.env["OPENCLAW_SKIP_LOCAL_MODELS"] !== "1",
  });
}

/** Channels that this package brings; their SDKs stay unloaded. */
export async function builtInChannels(cli: Cli): Promise<readonly ChannelPlugin[]> {
  const [{ createTelegramPlugin }, { createLarkPlugin }] = await Promise.all([import("../channels/telegram/index.ts"), import("../channels/lark/index.ts")]);
  const log = createCliLogger(cli);
  // Nothing is received here: nobody needs to be known.
  return [createTelegramPlugin({ env: cli.env, log }), createLarkPlugin({ env: cli.env, stateDir: cli.paths.stateDir, pairedIds: () => [], log })];
}
