import { formatModelRef, type ModelRow } from "../../agents/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { CommandButtons, CommandContext, CommandDefinition, CommandResult } from "./contract.ts";
import { reply } from "./contract.ts";
import { takeWord } from "./directives.ts";

/** Longest callback data of an inline button, bytes. */
const MAX_CALLBACK_BYTES = 64;

export const model: CommandDefinition = {
  name: "model", aliases: [], description: "Show or change the model of this session", category: "options", argsHint: "[provider/model|alias|default|status|list]", acceptsArgs: true, native: true,
  directive: {
    async take(after, { services, agentId }) {
      const length = takeWord(after, (word) => !["status", "list"].includes(word));
      const word = after.slice(0, length).trim();
      return word !== "" && (await services.models.parseRef(word, agentId)).ok ? length : 0;
    },
    async hint(args, { services, agentId }) {
      const parsed = await services.models.parseRef(args, agentId);
      if (!parsed.ok) return parsed.error;
      if (!(await services.models.isAllowed(parsed.ref, agentId))) return `${formatModelRef(parsed.ref)} is not among agents.defaults.models.`;
      return { model: parsed.ref, profileId: parsed.profileId };
    },
  },
  async run(command) {
    const { services, sessionKey, args } = command;
    const wanted = args.trim();
    if (wanted.toLowerCase() === "list") return listModels(command, "");
    if (wanted.toLowerCase() === "status") return reply(await modelStatus(command));
    if (wanted === "") {
      const { ref, reason } = await services.currentModel(sessionKey);
      const pin = command.entry?.authProfileOverrideSource === "user" ? ` · profile ${command.entry.authProfileOverride}` : "";
      return reply(`🧠 Model: ${formatModelRef(ref)} (${reason})${pin}\n/model <provider/model> changes it for this session, /model default goes back, /models lists what there is, /model status shows how they are reached.`);
    }
    if (/\s/.test(wanted)) return { kind: "pass" };
    try {
      const changed = await services.setModel(sessionKey, wanted);
      if (!changed) return reply(`🧠 Model is the default again: ${formatModelRef((await services.currentModel(sessionKey)).ref)}.`);
      const pin = (await services.entry(sessionKey))?.authProfileOverrideSource === "user" ? ` with profile ${(await services.entry(sessionKey))?.authProfileOverride}` : "";
      return reply(`🧠 Model set to ${formatModelRef(changed)}${pin} for this session.`);
    } catch (err) {
      return reply(`⚠️ ${errorText(err)}`);
    }
  },
};

/** Per provider that can be used: where it is, how it is paid, which models. Never a key. */
async function modelStatus({ services, sessionKey, agentId }: CommandContext): Promise<string> {
  const { ref, reason } = await services.currentModel(sessionKey);
  const rows = (await services.models.list(agentId)).filter((row) => row.available);
  const providers = [...new Set([ref.provider, ...rows.map((row) => row.provider)])];
  const blocks = await Promise.all(providers.map(async (provider) => {
    const own = rows.filter((row) => row.provider === provider);
    const sample = provider === ref.provider ? ref.modelId : own[0]?.id;
    const names = own.slice(0, MODELS_IN_STATUS).map((row) => row.id).join(", ");
    const more = own.length > MODELS_IN_STATUS ? ` and ${own.length - MODELS_IN_STATUS} more` : "";
    return `${provider}: ${sample === undefined ? "no model" : await describeAccess(services, { provider, modelId: sample }, agentId)}\n  ${names || "(not in the list)"}${more}`;
  }));
  return [`🧠 Model: ${formatModelRef(ref)} (${reason})`, ...blocks].join("\n");
}

const MODELS_IN_STATUS = 8;

async function describeAccess(services: CommandContext["services"], ref: { provider: string; modelId: string }, agentId: string): Promise<string> {
  try {
    const { model: known, authMode, profileId } = await services.models.prepare(ref, agentId);
    return `${withoutCredentials(known.baseUrl)} · ${known.api} · auth ${authMode}${profileId ? ` (${profileId})` : ""}`;
  } catch (err) {
    return `⚠️ ${errorText(err)}`;
  }
}

/** Origin and path: a key may stand in the user part or the query. */
function withoutCredentials(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl === "" ? "built in" : "custom endpoint";
  const url = new URL(baseUrl);
  return `${url.origin}${url.pathname === "/" ? "" : url.pathname}`;
}

const PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

export const models: CommandDefinition = {
  name: "models", aliases: [], description: "Models that can be chosen", category: "options", argsHint: "[provider] [page|size=n|all]", acceptsArgs: true, native: true,
  run: (command) => listModels(command, command.args),
};

async function listModels(command: CommandContext, args: string): Promise<CommandResult> {
  const rows = await command.services.models.list(command.agentId);
  const [provider, ...rest] = args.split(/\s+/).filter(Boolean);
  if (!provider) return listProviders(rows, command.ctx.Surface === "telegram");
  const own = rows.filter((row) => row.provider.toLowerCase() === provider.toLowerCase());
  if (own.length === 0) return rest.length > 0 && !isPaging(rest) ? { kind: "pass" } : reply(`No provider "${provider}" here. /models lists them.`);
  if (!isPaging(rest)) return reply("Usage: /models <provider> [page] [size=20] | all");
  const all = rest.includes("all");
  const size = all ? MAX_PAGE_SIZE : Math.min(MAX_PAGE_SIZE, Number(rest.find((word) => word.startsWith("size="))?.slice(5) ?? PAGE_SIZE));
  const pages = Math.max(1, Math.ceil(own.length / size));
  const page = Math.min(pages, Number(rest.find((word) => /^\d+$/.test(word)) ?? "1"));
  const shown = own.slice((page - 1) * size, page * size);
  const lines = shown.map((row) => `${row.available ? "●" : "○"} ${row.provider}/${row.id}`);
  const next = page < pages ? `\n\n/models ${own[0]?.provider} ${page + 1} shows the next.` : "";
  const buttons = command.ctx.Surface === "telegram" ? modelButtons(shown, own[0]?.provider ?? provider, page, pages) : undefined;
  return reply(`${own[0]?.provider} · ${own.length} models (page ${page}/${pages}):\n${lines.join("\n")}${next}`, buttons);
}

const isPaging = (words: readonly string[]): boolean => words.every((word) => word === "all" || /^[1-9]\d{0,3}$/.test(word) || /^size=[1-9]\d{0,2}$/.test(word));

function listProviders(rows: readonly ModelRow[], withButtons: boolean): CommandResult {
  const counts = new Map<string, { all: number; ready: number }>();
  for (const row of rows) {
    const count = counts.get(row.provider) ?? { all: 0, ready: 0 };
    counts.set(row.provider, { all: count.all + 1, ready: count.ready + (row.available ? 1 : 0) });
  }
  const sorted = [...counts].toSorted(([a, x], [b, y]) => Number(y.ready > 0) - Number(x.ready > 0) || a.localeCompare(b, "en"));
  const lines = sorted.map(([name, count]) => `${count.ready > 0 ? "●" : "○"} ${name} (${count.all})`);
  const ready = sorted.filter(([name, count]) => count.ready > 0 && fits(`mdl_list_${name}_1`)).slice(0, 8);
  const buttons = withButtons && ready.length > 0 ? ready.map(([name]) => [{ text: name, callbackData: `mdl_list_${name}_1` }]) : undefined;
  return reply(`Providers (● = usable now):\n${lines.join("\n")}\n\n/models <provider> lists its models.`, buttons);
}

const BUTTONS_PER_PAGE = 10;

function modelButtons(shown: readonly ModelRow[], provider: string, page: number, pages: number): CommandButtons {
  const choices = shown
    .filter((row) => row.available && fits(`mdl_sel_${row.provider}/${row.id}`))
    .slice(0, BUTTONS_PER_PAGE)
    .map((row) => [{ text: row.id, callbackData: `mdl_sel_${row.provider}/${row.id}` }]);
  const steps = [
    ...(page > 1 ? [{ text: "◀", callbackData: `mdl_list_${provider}_${page - 1}` }] : []),
    { text: "Providers", callbackData: "mdl_back" },
    ...(page < pages ? [{ text: "▶", callbackData: `mdl_list_${provider}_${page + 1}` }] : []),
  ];
  return [...choices, steps.filter((button) => fits(button.callbackData))];
}

const fits = (callbackData: string): boolean => Buffer.byteLength(callbackData) <= MAX_CALLBACK_BYTES;
