import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { OpenClawConfig } from "../../config/index.ts";
import { sleep } from "../../infra/backoff.ts";
import { errorText } from "../../infra/errors.ts";
import { normalizeAgentId } from "../../routing/index.ts";
import type { ChannelAccountContext } from "../contract/index.ts";
import type { LarkAccount } from "./config.ts";

/** Until the changed file is the running configuration. */
const RELOAD_WAIT_MS = 5000;
const RELOAD_POLL_MS = 20;

/** An agent of their own for people who write directly. Source: spec channels-cn §4.1 (dynamicAgentCreation). */
export interface DynamicAgents {
  /** Makes the sender's agent and its binding, unless there is one. Failures are logged: the message then goes where it would have gone. */
  prepare(ctx: ChannelAccountContext<LarkAccount>, openId: string): Promise<void>;
}

export function createDynamicAgents(): DynamicAgents {
  let queue: Promise<void> = Promise.resolve();

  return {
    prepare(ctx, openId) {
      if (ctx.account.config.dynamicAgentCreation?.enabled !== true) return Promise.resolve();
      // One after the other: each adds to the same two lists.
      queue = queue.then(() => create(ctx, openId)).catch((err: unknown) => ctx.log.warn("agent for a person not made", { openId, error: errorText(err) }));
      return queue;
    },
  };
}

async function create(ctx: ChannelAccountContext<LarkAccount>, openId: string): Promise<void> {
  const { config } = ctx.account;
  const { workspaceTemplate = join(ctx.stateDir, "workspace-{agentId}"), agentDirTemplate = join(ctx.stateDir, "agents", "{agentId}", "agent"), maxAgents } = config.dynamicAgentCreation ?? {};
  const cfg = ctx.cfg();
  if (isBound(cfg, ctx.accountId, openId)) return;
  const agentId = normalizeAgentId(`feishu-${openId}`);
  const agents = cfg.agents?.list ?? [];
  const isKnown = agents.some(({ id }) => normalizeAgentId(id) === agentId);
  if (!isKnown && maxAgents !== undefined && agents.filter(({ id }) => id.startsWith("feishu-")).length >= maxAgents) {
    return ctx.log.warn("no agent for a person: maxAgents is reached", { openId, maxAgents });
  }
  if (config.configWrites === false || !ctx.patchConfig) return ctx.log.warn("no agent for a person: configWrites is off", { openId });
  const place = (template: string): string => template.replaceAll("{agentId}", agentId).replaceAll("{userId}", openId);
  const workspace = place(workspaceTemplate);
  const agentDir = place(agentDirTemplate);
  for (const dir of [workspace, agentDir]) await mkdir(dir.startsWith("~/") ? join(homedir(), dir.slice(2)) : dir, { recursive: true, mode: 0o700 });
  // Alone in the list, a new agent would become everybody's.
  const list = agents.length === 0 ? [{ id: "main", default: true }] : agents;
  const binding = { agentId, match: { channel: "feishu", accountId: ctx.accountId, peer: { kind: "direct", id: openId } } };
  await ctx.patchConfig({
    ...(isKnown ? {} : { agents: { list: [...list, { id: agentId, workspace, agentDir }] } }),
    bindings: [...(cfg.bindings ?? []), binding],
  }, `Feishu: an agent for ${openId}`);
  for (let waited = 0; !isBound(ctx.cfg(), ctx.accountId, openId) && waited < RELOAD_WAIT_MS && !ctx.signal.aborted; waited += RELOAD_POLL_MS) await sleep(RELOAD_POLL_MS, ctx.signal);
}

function isBound(cfg: OpenClawConfig, accountId: string, openId: string): boolean {
  return (cfg.bindings ?? []).some(({ match }) => match.channel === "feishu" && match.peer?.id === openId && (match.accountId === undefined || match.accountId === "*" || match.accountId === accountId));
}
