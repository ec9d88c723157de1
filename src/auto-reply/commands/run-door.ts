import { randomUUID } from "node:crypto";
import type { RunRequest } from "../../agents/index.ts";
import { buildChatContext } from "../groups.ts";
import { runChannel } from "../run-channel.ts";
import { resolveRunSettings } from "../run-settings.ts";
import type { CommandContext, CommandServices } from "./contract.ts";
import { exportSessionFile } from "./export-session.ts";
import type { CommandServicesDeps } from "./services.ts";

type Sender = Pick<CommandContext, "sessionKey" | "ctx" | "authority">;

/** What commands do as a run of their sender would: its tools, its prompt. */
export function createRunDoor(deps: Pick<CommandServicesDeps, "agents" | "sessions" | "config" | "clock" | "channel" | "ownerIds">): Pick<CommandServices, "promptReport" | "runTool" | "exportSession"> {
  const { agents, sessions, config, clock } = deps;

  /** What a run of the command's sender in this session would be asked for. */
  async function runRequest({ sessionKey, ctx, authority }: Sender): Promise<Omit<RunRequest, "prompt" | "onAgentEvent">> {
    const runId = `command:${randomUUID()}`;
    const entry = (await sessions.get(sessionKey)) ?? { sessionId: runId, updatedAt: 0 };
    const agentId = sessions.agentIdOf(sessionKey);
    const isGroup = ctx.ChatType === "group" || ctx.ChatType === "channel";
    const settings = await resolveRunSettings({ cfg: config(), agents, agentId, entry, hints: {}, ctx, isGroup });
    const plugin = authority.source === "gateway" ? undefined : deps.channel(ctx.OriginatingChannel ?? "");
    const groupPolicy = !isGroup ? undefined : plugin?.groups?.resolveToolPolicy?.({
      cfg: config(), accountId: ctx.AccountId ?? "default", groupId: entry.groupId ?? "", threadId: ctx.MessageThreadId?.toString(),
      senderId: ctx.SenderId, senderName: ctx.SenderName, senderUsername: ctx.SenderUsername, senderE164: ctx.SenderE164,
    });
    return {
      runId, agentId, sessionKey, sessionId: entry.sessionId, sessionFile: sessions.transcriptPath(sessionKey, entry),
      model: settings.model, fallbacks: [], thinking: settings.thinking, reasoning: settings.reasoning, verbose: settings.verbose, timeoutMs: 0, lane: "main",
      exec: settings.exec, elevated: settings.elevated, groupPolicy, isOwner: authority.isOwner, channel: runChannel({ ctx, plugin, route: undefined }),
      extraSystemPrompt: buildChatContext(ctx, entry.groupActivation ?? "mention"),
      ownerIds: authority.source === "gateway" ? [] : deps.ownerIds(ctx.OriginatingChannel ?? "", ctx.AccountId ?? "default"),
    };
  }

  return {
    async promptReport(command) {
      const stored = (await sessions.get(command.sessionKey))?.systemPromptReport;
      return isReport(stored) ? stored : (await agents.previewPrompt(await runRequest(command))).report;
    },
    async runTool(command, name, args) {
      const { offered, removed } = agents.tools(await runRequest(command));
      const tool = offered.find((candidate) => candidate.name === name);
      if (!tool) throw new Error(removed.find((candidate) => candidate.name === name)?.explanation ?? `the tool ${name} is not offered here; see tools.allow and tools.deny`);
      const given = { ...args };
      const { content, details, isError } = await tool.execute(tool.prepare?.(given) ?? given, { toolCallId: `command:${randomUUID()}`, signal: AbortSignal.timeout(600_000), onUpdate: () => undefined });
      return { text: content.map((block) => (block.type === "text" ? block.text : "(image)")).join("\n"), details, isError: isError === true };
    },
    async exportSession(command, path) {
      const entry = await sessions.get(command.sessionKey);
      if (!entry) throw new Error("this session has no messages yet");
      await sessions.flush();
      const request = await runRequest(command);
      const { systemPrompt, tools } = await agents.previewPrompt(request);
      const { file, entries } = await exportSessionFile({
        sessionKey: command.sessionKey, sessionId: entry.sessionId, exportedAtMs: clock.now(), model: `${request.model.provider}/${request.model.modelId}`, systemPrompt, tools,
        transcript: request.sessionFile, workspaceDir: agents.agent(request.agentId).workspaceDir, path,
      });
      return { file, entries, promptChars: systemPrompt.length, tools: tools.length };
    },
  };
}

function isReport(value: unknown): value is Awaited<ReturnType<CommandServices["promptReport"]>> {
  return typeof value === "object" && value !== null && "systemPrompt" in value && "tools" in value && "injectedWorkspaceFiles" in value;
}
