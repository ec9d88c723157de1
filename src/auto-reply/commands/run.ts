import type { AgentRuntime } from "../../agents/index.ts";
import type { MsgContext } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Authority, InboxRow } from "../../delivery/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import type { SessionService } from "../../sessions/index.ts";
import type { Answers } from "../reply/answers.ts";
import { createRunEvents, type RunEventSinks } from "../reply/run-events.ts";
import { matchResetTrigger } from "../reset-trigger.ts";
import type { CommandContext, CommandResult, CommandServices } from "./contract.ts";
import type { CommandRegistry } from "./registry.ts";

export interface CommandRunnerDeps {
  readonly config: () => OpenClawConfig;
  readonly log: Logger;
  readonly agents: AgentRuntime;
  readonly sessions: SessionService;
  readonly events: RunEventSinks;
  readonly registry: CommandRegistry;
  readonly services: () => CommandServices;
  readonly answers: Answers;
  readonly resetSession: (sessionKey: string) => Promise<unknown>;
}

export type CommandScope = Pick<CommandContext, "sessionKey" | "agentId" | "entry" | "authority" | "isGroup">;

/** `go-on`: `body` is for the model. */
export type CommandOutcome = { readonly kind: "done" } | { readonly kind: "go-on"; readonly body: string; readonly notices: readonly string[] };

const NEW_SESSION_PROMPT =
  "A new session was started. If BOOTSTRAP.md is in your context, follow it; else read what Session Startup in AGENTS.md asks for. Then greet the person in your own manner in one to three sentences and ask what they want to do. Do not mention files or this instruction.";

/** Finds and runs the commands in a message, before the model sees it. */
export function createCommandRunner(deps: CommandRunnerDeps): (rows: readonly InboxRow[], ctx: MsgContext, scope: CommandScope) => Promise<CommandOutcome> {
  async function runCommand(rows: readonly InboxRow[], ctx: MsgContext, base: CommandScope): Promise<CommandOutcome> {
    const body = ctx.BodyForCommands ?? "";
    const goOn = (text: string, notices: readonly string[] = []): CommandOutcome => ({ kind: "go-on", body: text, notices });
    const afterReset = base.authority.commandAuthorized ? matchResetTrigger(body, deps.config().session?.resetTriggers) : undefined;
    if (afterReset !== undefined) return resetByCommand(rows, base, afterReset);
    if (!body.includes("/")) return goOn(body);
    const services = deps.services();
    const context = (args: string, invokedAs: string): CommandContext => ({ ...base, cfg: deps.config(), ctx, services, args, invokedAs });
    const match = deps.registry.match(body);
    if (match) {
      if (!base.authority.commandAuthorized || (match.command.ownerOnly && !base.authority.isOwner)) return { kind: "done" }; // no answer to strangers
      if (match.command.groupsOnly && !base.isGroup) {
        await deps.answers.answer(rows, base.sessionKey, `/${match.command.name} is for group chats.`);
        return { kind: "done" };
      }
      const result = await guard(() => match.command.run(context(match.args, match.invokedAs)), match.command.name);
      return finishCommand(rows, base.sessionKey, result, body);
    }
    if (!base.authority.commandAuthorized) return goOn(body);
    const { matches, rest } = deps.registry.takeInline(body);
    for (const inline of matches) {
      const result = await guard(() => inline.command.run(context(inline.args, inline.invokedAs)), inline.command.name);
      if (result.kind === "reply") await deps.answers.answer(rows, base.sessionKey, result.text, { keepOpen: true });
    }
    if (matches.length > 0 && rest.trim() === "") {
      for (const row of rows) if (row.client) createRunEvents(deps.events, row.client.runId, base.sessionKey).final(undefined);
      return { kind: "done" };
    }
    return goOn(rest);
  }

  async function guard(run: () => Promise<CommandResult>, name: string): Promise<CommandResult> {
    try {
      return await run();
    } catch (err) {
      deps.log.error("command failed", { command: name, err });
      return { kind: "reply", text: `⚠️ /${name} failed: ${errorText(err)}` };
    }
  }

  async function finishCommand(rows: readonly InboxRow[], sessionKey: string, result: CommandResult, body: string): Promise<CommandOutcome> {
    switch (result.kind) {
      case "reply":
        await deps.answers.answer(rows, sessionKey, result.text, { buttons: result.buttons });
        return { kind: "done" };
      case "silent":
        return { kind: "done" };
      case "prompt":
        return { kind: "go-on", body: result.text, notices: [] };
      case "pass":
        return { kind: "go-on", body, notices: [] };
    }
  }

  /** `/new [model] [text]`: a fresh session, then the text, or a greeting. */
  async function resetByCommand(rows: readonly InboxRow[], base: { sessionKey: string; agentId: string; authority: Authority }, text: string): Promise<CommandOutcome> {
    const { scopes } = base.authority;
    if (scopes && !scopes.includes("operator.admin")) {
      await deps.answers.answer(rows, base.sessionKey, "⚠️ Starting a new session needs the scope operator.admin.", { record: false });
      return { kind: "done" };
    }
    await deps.resetSession(base.sessionKey);
    let rest = text;
    const [first = ""] = text.split(/\s+/);
    if (first !== "" && /[/@]|^[a-z0-9.-]+$/i.test(first)) {
      const parsed = await deps.agents.models.parseRef(first, base.agentId);
      const isModel = parsed.ok && (first.includes("/") || parsed.alias !== undefined) && (await deps.agents.models.isAllowed(parsed.ref, base.agentId));
      if (isModel) {
        await deps.sessions.update(base.sessionKey, { providerOverride: parsed.ref.provider, modelOverride: parsed.ref.modelId });
        rest = text.slice(text.indexOf(first) + first.length).trim();
      }
    }
    return { kind: "go-on", body: rest === "" ? NEW_SESSION_PROMPT : rest, notices: [] };
  }

  return runCommand;
}
