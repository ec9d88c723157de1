import type { MethodScope } from "../../security/index.ts";

const READ =
  "status system-presence last-heartbeat logs.tail doctor.memory.status usage.status usage.cost chat.history " +
  "agent.identity.get sessions.list sessions.preview sessions.resolve sessions.usage sessions.usage.timeseries " +
  "sessions.usage.logs config.get agents.list agents.files.list agents.files.get models.list tools.catalog " +
  "skills.status channels.status talk.config tts.status tts.providers voicewake.get cron.list cron.status " +
  "cron.runs node.list node.describe";
const WRITE =
  "wake chat.send chat.abort agent agent.wait send poll talk.mode tts.enable tts.disable tts.convert " +
  "tts.setProvider voicewake.set browser.request node.invoke push.test";
const PAIRING =
  "device.pair.list device.pair.approve device.pair.reject device.pair.remove device.token.rotate " +
  "device.token.revoke node.pair.request node.pair.list node.pair.approve node.pair.reject node.pair.verify node.rename";
const APPROVALS = "exec.approval.request exec.approval.waitDecision exec.approval.resolve";
const NODE = "node.invoke.result node.event skills.bins";

const SCOPES: ReadonlyMap<string, MethodScope> = new Map(
  (
    [
      ["none", "health"],
      ["operator.read", READ],
      ["operator.write", WRITE],
      ["operator.pairing", PAIRING],
      ["operator.approvals", APPROVALS],
      ["node", NODE],
    ] as const
  ).flatMap(([scope, names]) => names.split(" ").map((name): [string, MethodScope] => [name, scope])),
);

/**
 * The scope of a method by its name alone, known here or not: what is not classified needs admin
 * (spec: gateway-protocol §3), so that an unknown name tells a non-admin nothing.
 */
export const scopeOfMethod = (name: string): MethodScope => SCOPES.get(name) ?? "operator.admin";

/** Callable, but not in hello-ok's `features.methods` (spec §2.8). */
const HIDDEN: ReadonlySet<string> = new Set([
  "connect",
  "poll",
  "chat.inject",
  "sessions.resolve",
  "sessions.usage",
  "sessions.usage.timeseries",
  "sessions.usage.logs",
  "push.test",
  "web.login.start",
  "web.login.wait",
]);

export const isAdvertised = (name: string): boolean => !HIDDEN.has(name);
