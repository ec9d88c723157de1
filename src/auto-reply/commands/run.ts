import type { AgentRuntime, ModelRef } from "../../agents/index.ts";
import type { ChannelPlugin, MsgContext } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { InboxRow } from "../../delivery/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import type { SessionService } from "../../sessions/index.ts";
import type { Answers } from "../reply/answers.ts";
import { createRunEvents, type RunEventSinks } from "../reply/run-events.ts";
import { matchResetTrigger } from "../reset-trigger.ts";
import type { RunHints } from "../run-hints.ts";
import { expandBang, groupCommandText, withoutMentions } from "./command-text.ts";
import type { CommandContext, CommandResult, CommandServices } from "./contract.ts";
import { takeDirectives, type DirectiveUse } from "./directives.ts";
import type { CommandMatch, CommandRegistry } from "./registry.ts";

export interface CommandRunnerDeps {
  readonly config: () => OpenClawConfig;
  readonly log: Logger;
  readonly agents: AgentRuntime;
  readonly sessions: SessionService;
  readonly events: RunEventSinks;
  readonly registry: CommandRegistry;
  readonly channel: (id: string) => ChannelPlugin | undefined;
  readonly services: () => CommandServices;
  readonly answers: Answers;
  readonly resetSession: (sessionKey: string, reason: "new" | "reset") => Promise<unknown>;
}

export type CommandScope = Pick<CommandContext, "sessionKey" | "agentId" | "entry" | "authority" | "isGroup">;

/** `go-on`: `body` is for the model. */
export type CommandOutcome = { readonly kind: "done" } | { readonly kind: "go-on"; readonly body: string; readonly notices: readonly string[]; readonly hints?: RunHints | undefined };

const NEW_SESSION_PROMPT =
  "A new session was started. If BOOTSTRAP.md is in your context, follow it; else read what Session Startup in AGENTS.md asks for. Then greet the person in your own manner in one to three sentences and ask what they want to do. Do not mention files or this instruction.";

const goOn = (body: string, notices: readonly string[] = [], hints?: RunHints): CommandOutcome => ({ kind: "go-on", body, notices, hints });
const DONE: CommandOutcome = { kind: "done" };

/** Finds and runs the commands in a message, before the model sees it. Source: spec agent-pipeline-output §8.1–8.2. */
export function createCommandRunner(deps: CommandRunnerDeps): (rows: readonly InboxRow[], ctx: MsgContext, scope: CommandScope) => Promise<CommandOutcome> {
  async function runCommand(rows: readonly InboxRow[], ctx: MsgContext, base: CommandScope): Promise<CommandOutcome> {
    const cfg = deps.config();
    const body = ctx.BodyForCommands ?? "";
    if (!textCommandsOn(cfg, ctx)) return goOn(body);
    const bare = base.isGroup ? groupCommandText(body) : body;
    const whole = cfg.commands?.bash === true ? expandBang(bare) : bare;
    const afterReset = base.authority.commandAuthorized ? matchResetTrigger(whole, cfg.session?.resetTriggers) : undefined;
    if (afterReset === undefined) return readWords(rows, ctx, base, { whole, body });
    const rest = await resetByCommand(rows, base, afterReset, /^\s*\/new\b/i.test(whole) ? "new" : "reset");
    if (rest === undefined) return DONE;
    return rest === "" ? goOn(NEW_SESSION_PROMPT) : readWords(rows, ctx, { ...base, entry: await deps.sessions.get(base.sessionKey) }, { whole: rest, body: rest });
  }

  /** `whole`: `body` without what surrounds a command in a group. */
  async function readWords(rows: readonly InboxRow[], ctx: MsgContext, base: CommandScope, { whole, body }: { readonly whole: string; readonly body: string }): Promise<CommandOutcome> {
    if (!whole.includes("/")) return goOn(body);
    const { commandAuthorized } = base.authority;
    const cfg = deps.config();
    const scope = { ...base, cfg, ctx, services: deps.services(), addressed: rows.some(({ message }) => message.mentions?.bot === true || message.mentions?.implicit === true) };
    const context = ({ args, invokedAs }: Pick<CommandMatch, "args" | "invokedAs">): CommandContext => ({ ...scope, args, invokedAs });
    const match = await findCommand(whole, base.agentId);
    if (match && !match.command.directive) return commandAuthorized || match.command.openToAll ? runWhole(rows, match, context(match), body) : DONE; // no answer to strangers
    const aliases = deps.agents.models.aliases(base.agentId);
    const taken = await takeDirectives(body, (word) => findDirective(word, aliases), scope);
    const hasFiles = (ctx.MediaPaths?.length ?? 0) > 0;
    const onlyDirectives = taken.uses.length > 0 && !hasFiles && (base.isGroup ? withoutMentions(taken.rest) : taken.rest.trim()) === "";
    if (!commandAuthorized) return onlyDirectives || match?.args === "" ? DONE : goOn(body);
    if (onlyDirectives) return runDirectives(rows, taken.uses, context, base.sessionKey);
    if (match && (taken.uses.length === 0 || (match.args !== "" && match.command.directive?.claims?.(match.args)))) return runWhole(rows, match, context(match), body);
    return goOnWithout(rows, taken, context, base.sessionKey);
  }

  /** Off for typed commands on platforms that have a menu of their own. Source: commands.text. */
  function textCommandsOn(cfg: OpenClawConfig, ctx: MsgContext): boolean {
    if (cfg.commands?.text !== false || ctx.CommandSource === "native") return true;
    return deps.channel(ctx.OriginatingChannel ?? "")?.capabilities.nativeCommands !== true;
  }

  async function findCommand(text: string, agentId: string): Promise<CommandMatch | undefined> {
    const known = deps.registry.match(text, { agentId });
    if (known && known.command.category !== "skills") return known;
    if (!/^\s*\/[a-z0-9_-]/i.test(text)) return undefined;
    // It may be a skill, and skills come and go on disk.
    await deps.registry.refreshSkills(agentId).catch((err: unknown) => deps.log.warn("skills not read", { err }));
    return deps.registry.match(text, { agentId });
  }

  function findDirective(word: string, aliases: ReadonlyMap<string, unknown>): { command: CommandMatch["command"]; args?: string } | undefined {
    const own = deps.registry.directive(word);
    if (own) return { command: own };
    const model = aliases.has(word) && !deps.registry.match(`/${word}`) ? deps.registry.directive("model") : undefined;
    return model && { command: model, args: word };
  }

  async function runWhole(rows: readonly InboxRow[], { command }: CommandMatch, context: CommandContext, body: string): Promise<CommandOutcome> {
    const result = await runOne(command, context);
    switch (result.kind) {
      case "reply":
        await deps.answers.answer(rows, context.sessionKey, result.text, { buttons: result.buttons, extras: result });
        return DONE;
      case "silent":
        return DONE;
      case "prompt":
        return goOn(result.text);
      case "pass":
        return goOn(body);
    }
  }

  /** A message of nothing but directives: each is kept for the session, one answer tells all. */
  async function runDirectives(rows: readonly InboxRow[], uses: readonly DirectiveUse[], context: (use: DirectiveUse) => CommandContext, sessionKey: string): Promise<CommandOutcome> {
    const texts: string[] = [];
    for (const use of uses) {
      const entry = await deps.sessions.get(sessionKey);
      const result = await runOne(use.command, { ...context(use), entry });
      if (result.kind === "reply") texts.push(result.text);
    }
    await deps.answers.answer(rows, sessionKey, texts.join("\n"));
    return DONE;
  }

  /** Directives among other words hold for this message; commands such as /status are answered beside it. */
  async function goOnWithout(
    rows: readonly InboxRow[], taken: { readonly uses: readonly DirectiveUse[]; readonly rest: string }, context: (use: Pick<DirectiveUse, "args" | "invokedAs">) => CommandContext, sessionKey: string,
  ): Promise<CommandOutcome> {
    const { matches, rest } = deps.registry.takeInline(taken.rest);
    for (const inline of matches) {
      const result = await runOne(inline.command, context(inline));
      if (result.kind === "reply") await deps.answers.answer(rows, sessionKey, result.text, { keepOpen: true, extras: result });
    }
    if (matches.length > 0 && rest.trim() === "") {
      for (const row of rows) if (row.client) createRunEvents(deps.events, row.client.runId, sessionKey).final(undefined);
      return DONE;
    }
    let hints: RunHints = {};
    const notices: string[] = [];
    for (const use of taken.uses) {
      const hint = (await use.command.directive?.hint(use.args, context(use))) ?? {};
      if (typeof hint === "string") notices.push(hint.startsWith("⚠️") ? hint : `⚠️ ${hint}`);
      else hints = { ...hints, ...hint };
    }
    return goOn(rest, notices, hints);
  }

  async function runOne(command: CommandMatch["command"], context: CommandContext): Promise<CommandResult> {
    if (command.ownerOnly && !context.authority.isOwner) return { kind: "reply", text: `⚠️ /${command.name} is for the owner of this assistant.` };
    if (command.groupsOnly && !context.isGroup) return { kind: "reply", text: `/${command.name} is for group chats.` };
    try {
      return await command.run(context);
    } catch (err) {
      deps.log.error("command failed", { command: command.name, err });
      return { kind: "reply", text: `⚠️ /${command.name} failed: ${errorText(err)}` };
    }
  }

  /** `/new [model] [text]`: a fresh session; the text, or undefined when there is none to be had. */
  async function resetByCommand(rows: readonly InboxRow[], base: CommandScope, text: string, reason: "new" | "reset"): Promise<string | undefined> {
    const { scopes } = base.authority;
    if (scopes && !scopes.includes("operator.admin")) {
      await deps.answers.answer(rows, base.sessionKey, "⚠️ Starting a new session needs the scope operator.admin.", { record: false });
      return undefined;
    }
    await deps.resetSession(base.sessionKey, reason);
    const model = await leadingModel(text, base.agentId);
    if (!model) return text;
    await deps.sessions.update(base.sessionKey, { providerOverride: model.ref.provider, modelOverride: model.ref.modelId });
    return model.rest;
  }

  /** `provider/model`, an alias, or provider and model as two words, at the start of a text. */
  async function leadingModel(text: string, agentId: string): Promise<{ readonly ref: ModelRef; readonly rest: string } | undefined> {
    const { models } = deps.agents;
    const [, first = "", second = ""] = /^(\S+)(?:\s+(\S+))?/.exec(text) ?? [];
    if (/[/@]|^[a-z0-9.-]+$/i.test(first) && !first.startsWith("/")) {
      const parsed = await models.parseRef(first, agentId);
      const isMeant = parsed.ok && (first.includes("/") || parsed.alias !== undefined);
      if (isMeant && (await models.isAllowed(parsed.ref, agentId))) return { ref: parsed.ref, rest: text.slice(first.length).trim() };
    }
    if (second === "") return undefined;
    const ref = { provider: first.toLowerCase(), modelId: second };
    // Any second word would do for a provider that takes every id: only a listed one is meant.
    const isListed = (await models.list(agentId)).some((row) => row.provider === ref.provider && row.id === ref.modelId);
    return isListed && (await models.isAllowed(ref, agentId)) ? { ref, rest: text.slice(text.indexOf(second, first.length) + second.length).trim() } : undefined;
  }

  return runCommand;
}
