import { Type } from "typebox";
import { isCronRunKey, sessionKeyKind } from "../../../routing/index.ts";
import { optionalNumber, optionalString, requireString } from "../arguments.ts";
import { toolJson, type AgentTool } from "../contract.ts";
import type { SessionToolRow, SessionToolScope } from "./contract.ts";
import { viewHistory } from "./history-view.ts";
import { forbidden, isVisible, notVisible } from "./visibility.ts";

const KINDS = ["main", "group", "cron", "hook", "node", "other"] as const;
const MAX_MESSAGES = 20;
const DEFAULT_LIST = 50;
const DEFAULT_HISTORY = 50;
const MAX_HISTORY = 500;
const DEFAULT_SEND_TIMEOUT_SEC = 30;
const MAX_LABEL_CHARS = 64;

/** Kind as the tool names it; the reference's `other` for the main session is not copied (spec tools-and-automation §13.9). */
function kindOf(key: string): (typeof KINDS)[number] {
  const kind = sessionKeyKind(key);
  switch (kind) {
    case "main":
    case "global":
      return "main";
    case "group":
    case "channel":
      return "group";
    case "cron":
    case "hook":
    case "node":
      return kind;
    default:
      return "other";
  }
}

const LIST_PARAMETERS = Type.Object({
  kinds: Type.Optional(Type.Array(Type.Unsafe<string>({ type: "string", enum: [...KINDS] }))), limit: Type.Optional(Type.Number()), activeMinutes: Type.Optional(Type.Number()),
  messageLimit: Type.Optional(Type.Number({ description: "last messages of each, up to 20" })),
});

export function createSessionsListTool(scope: SessionToolScope): AgentTool {
  return {
    name: "sessions_list",
    label: "Sessions List",
    summary: "List conversations",
    description: "List conversations that this one may see, the newest first.",
    parameters: LIST_PARAMETERS,
    async execute(args) {
      const rows = await scope.actions.list();
      const kinds = Array.isArray(args["kinds"]) && args["kinds"].length > 0 ? (args["kinds"] as string[]) : undefined;
      const activeMs = (optionalNumber(args, "activeMinutes") ?? Infinity) * 60_000;
      const newest = rows[0]?.updatedAt ?? 0;
      const shown = rows
        .filter((row) => !isCronRunKey(row.key) && isVisible(scope, row, rows) && (!kinds || kinds.includes(kindOf(row.key))) && newest - row.updatedAt <= activeMs)
        .slice(0, Math.max(1, optionalNumber(args, "limit") ?? DEFAULT_LIST));
      const messageLimit = Math.min(MAX_MESSAGES, Math.max(0, Math.trunc(optionalNumber(args, "messageLimit") ?? 0)));
      const sessions = await Promise.all(shown.map(async (row) => ({ ...toShown(row), ...(messageLimit > 0 ? { messages: viewHistory(await scope.actions.history(row.key, messageLimit), false).messages } : {}) })));
      return toolJson({ count: sessions.length, sessions });
    },
  };
}

function toShown({ agentId: _agent, spawnedBy: _parent, ...row }: SessionToolRow): Record<string, unknown> {
  return { ...row, kind: kindOf(row.key) };
}

/** A key, or the id of a session. @throws Error when there is none */
async function findRow(scope: SessionToolScope, wanted: string): Promise<{ row: SessionToolRow; rows: readonly SessionToolRow[] }> {
  const rows = await scope.actions.list();
  const key = scope.actions.canonicalKey(wanted);
  const row = rows.find((item) => item.key === key) ?? rows.find((item) => item.sessionId === wanted);
  if (!row) throw new Error(`There is no session "${wanted}". See sessions_list.`);
  return { row, rows };
}

const HISTORY_PARAMETERS = Type.Object({ sessionKey: Type.String(), limit: Type.Optional(Type.Number()), includeTools: Type.Optional(Type.Boolean()) });

export function createSessionsHistoryTool(scope: SessionToolScope): AgentTool {
  return {
    name: "sessions_history",
    label: "Sessions History",
    summary: "Read another conversation",
    description: "Read the last messages of a conversation that this one may see.",
    parameters: HISTORY_PARAMETERS,
    describe: (args) => optionalString(args, "sessionKey") ?? "",
    async execute(args) {
      const { row, rows } = await findRow(scope, requireString(args, "sessionKey"));
      if (!isVisible(scope, row, rows)) return toolJson(notVisible(scope, row.key));
      const limit = Math.min(MAX_HISTORY, Math.max(1, Math.trunc(optionalNumber(args, "limit") ?? DEFAULT_HISTORY)));
      return toolJson({ sessionKey: row.key, ...viewHistory(await scope.actions.history(row.key, limit), args["includeTools"] === true) });
    },
  };
}

const SEND_PARAMETERS = Type.Object({
  sessionKey: Type.Optional(Type.String()), label: Type.Optional(Type.String()), agentId: Type.Optional(Type.String()), message: Type.String(), timeoutSeconds: Type.Optional(Type.Number()),
});

export function createSessionsSendTool(scope: SessionToolScope): AgentTool {
  return {
    name: "sessions_send",
    label: "Sessions Send",
    summary: "Write to another conversation's agent",
    description: "Send a message to the agent of another conversation and wait for its reply. timeoutSeconds 0 does not wait.",
    parameters: SEND_PARAMETERS,
    describe: (args) => optionalString(args, "sessionKey") ?? optionalString(args, "label") ?? "",
    async execute(args, { signal }) {
      const message = requireString(args, "message");
      const sessionKey = optionalString(args, "sessionKey");
      const label = optionalString(args, "label")?.trim();
      if ((sessionKey === undefined) === (label === undefined)) throw new Error("Give either sessionKey or label.");
      if (label !== undefined && label.length > MAX_LABEL_CHARS) throw new Error(`label has at most ${MAX_LABEL_CHARS} characters.`);
      const found = sessionKey === undefined ? await findByLabel(scope, label as string, optionalString(args, "agentId")) : await findRow(scope, sessionKey);
      const { row, rows } = found;
      if (!isVisible(scope, row, rows)) return toolJson(notVisible(scope, row.key));
      if (row.key === scope.sessionKey) return toolJson(forbidden("A conversation cannot write to itself."));
      const timeoutMs = Math.max(0, optionalNumber(args, "timeoutSeconds") ?? DEFAULT_SEND_TIMEOUT_SEC) * 1000;
      const sent = await scope.actions.send({ fromKey: scope.sessionKey, fromChannel: scope.chat?.channel, toKey: row.key, message, isOwner: scope.isOwner, timeoutMs, signal });
      return toolJson({ ...sent, sessionKey: row.key, delivery: { status: "pending", mode: "announce" } });
    },
  };
}

async function findByLabel(scope: SessionToolScope, label: string, agentId: string | undefined): Promise<{ row: SessionToolRow; rows: readonly SessionToolRow[] }> {
  const rows = await scope.actions.list();
  const row = rows.find((item) => item.label === label && item.agentId === (agentId ?? scope.agentId));
  if (!row) throw new Error(`There is no session with the label "${label}". See sessions_list.`);
  return { row, rows };
}

const AGENTS_PARAMETERS = Type.Object({});

export function createAgentsListTool(scope: SessionToolScope): AgentTool {
  return {
    name: "agents_list",
    label: "Agents List",
    summary: "Agents that tasks can be given to",
    description: "List the agents that sessions_spawn may use.",
    parameters: AGENTS_PARAMETERS,
    execute: () => Promise.resolve(toolJson(scope.actions.agents(scope.agentId))),
  };
}
