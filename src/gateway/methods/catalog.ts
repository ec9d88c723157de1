import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { CORE_TOOL_NAMES, TOOL_PROFILES } from "../../agents/index.ts";
import { redactSecrets } from "../../infra/redact.ts";
import { resolveDefaultAgentId } from "../../routing/index.ts";
import type { GatewayContext } from "../context.ts";
import { defineMethod, unavailable, type GatewayMethod } from "../protocol/index.ts";
import { empty } from "./schemas.ts";

const models = defineMethod({
  name: "models.list",
  scope: "operator.read",
  params: empty,
  async handle(_params, ctx: GatewayContext) {
    const rows = await ctx.agents.models.list();
    return { models: rows.map(({ id, name, provider, contextWindow, reasoning, input, available }) => ({ id, name, provider, contextWindow, reasoning, input, available })) };
  },
});

const usage = defineMethod({
  name: "usage.status",
  scope: "operator.read",
  params: empty,
  handle: (_params, ctx: GatewayContext) => ctx.providerUsage.all(resolveDefaultAgentId(ctx.config())),
});

const skills = defineMethod({
  name: "skills.status",
  scope: "operator.read",
  params: z.strictObject({ agentId: z.string().optional() }),
  async handle({ agentId }, ctx: GatewayContext) {
    const id = agentId ?? resolveDefaultAgentId(ctx.config());
    const list = await ctx.agents.skills(id);
    return {
      workspaceDir: ctx.agents.agent(id).workspaceDir, managedSkillsDir: join(ctx.paths.stateDir, "skills"),
      skills: list.map((skill) => ({ ...skill, configChecks: skill.requirements.config.map((path) => ({ path, satisfied: !skill.missing.config.includes(path) })), install: [] })),
    };
  },
});

const commands = defineMethod({
  name: "commands.list",
  scope: "operator.read",
  params: empty,
  advertised: true,
  handle: async (_params, ctx: GatewayContext) => ({
    commands: (await listedCommands(ctx)).map(({ name, aliases, description, category, argsHint, acceptsArgs, groupsOnly }) => ({ name, aliases, description, category, argsHint, acceptsArgs, groupsOnly })),
  }),
});

async function listedCommands({ commands: registry, config }: GatewayContext): Promise<ReturnType<GatewayContext["commands"]["listed"]>> {
  const agentId = resolveDefaultAgentId(config());
  await registry.refreshSkills(agentId);
  return registry.listed(config(), agentId);
}

const tools = defineMethod({
  name: "tools.catalog",
  scope: "operator.read",
  params: z.strictObject({ agentId: z.string().optional(), includePlugins: z.boolean().optional() }),
  async handle({ agentId }, ctx: GatewayContext) {
    const id = agentId ?? resolveDefaultAgentId(ctx.config());
    const { ref } = await ctx.agents.models.selectDefault(id);
    const { offered, removed } = ctx.agents.tools({
      runId: "catalog", agentId: id, sessionKey: `agent:${id}:main`, sessionId: "catalog", sessionFile: "", model: ref, fallbacks: [], thinking: "off", reasoning: "off",
      verbose: "off", timeoutMs: 0, lane: "main", channel: undefined, isOwner: true, ownerIds: [],
    });
    const names = [...offered.map((tool) => ({ id: tool.name, label: tool.label, description: tool.summary })), ...removed.map(({ name, rule }) => ({ id: name, label: name, description: `off: ${rule}` }))];
    return {
      agentId: id,
      profiles: Object.keys(TOOL_PROFILES).map((profile) => ({ id: profile, label: profile })),
      groups: [{
        id: "core", label: "Core", source: "core",
        tools: names.map((tool) => ({ ...tool, source: "core", optional: !CORE_TOOL_NAMES.includes(tool.id), defaultProfiles: Object.keys(TOOL_PROFILES).filter((profile) => TOOL_PROFILES[profile]?.includes(tool.id) ?? true) })),
      }],
    };
  },
});

const logs = defineMethod({
  name: "logs.tail",
  scope: "operator.read",
  params: z.strictObject({ cursor: z.number().int().min(0).optional(), limit: z.number().int().min(1).max(5000).optional(), maxBytes: z.number().int().min(1).max(1_000_000).optional() }),
  async handle({ cursor, limit = 500, maxBytes = 250_000 }, ctx: GatewayContext) {
    const file = await newestLog(ctx.logFile());
    return tailFile(file, { cursor, limit, maxBytes });
  },
});

async function newestLog(wanted: string): Promise<string> {
  if (await stat(wanted).then(() => true, () => false)) return wanted;
  const dir = dirname(wanted);
  const names = (await readdir(dir).catch(() => [])).filter((name) => /^openclaw-\d{4}-\d{2}-\d{2}\.log$/.test(name)).sort();
  return join(dir, names.at(-1) ?? basename(wanted));
}

async function tailFile(file: string, { cursor, limit, maxBytes }: { cursor: number | undefined; limit: number; maxBytes: number }): Promise<unknown> {
  const handle = await open(file, "r").catch((err: unknown) => {
    throw unavailable(`log file not readable: ${err instanceof Error ? err.message : String(err)}`);
  });
  try {
    const { size } = await handle.stat();
    const reset = cursor !== undefined && (cursor > size || size - cursor > maxBytes);
    const start = cursor === undefined || reset ? Math.max(0, size - maxBytes) : cursor;
    const bytes = Buffer.alloc(size - start);
    await handle.read(bytes, 0, bytes.length, start);
    let text = bytes.toString("utf8");
    const partial = start > 0 && (cursor === undefined || reset);
    if (partial) text = text.slice(text.indexOf("\n") + 1);
    const all = text.split("\n").filter((line) => line !== "").map((line) => redactSecrets(line));
    return { file, cursor: size, size, lines: all.slice(-limit), truncated: partial || all.length > limit, reset };
  } finally {
    await handle.close();
  }
}

export const catalogMethods: readonly GatewayMethod<GatewayContext>[] = [models, usage, skills, commands, tools, logs];
