import { asDecision, type Decision } from "../../agents/index.ts";
import type { CommandContext, CommandDefinition } from "./contract.ts";
import { reply } from "./contract.ts";

const USAGE = "Usage: /approve <id> allow-once|allow-always|deny";
const DONE: Readonly<Record<Decision, string>> = { "allow-once": "allowed once", "allow-always": "allowed always", deny: "denied" };

/** Clients need the scope for it, whatever else they may do; in chats it is the owner's alone. Source: security-record A5. */
function mayDecide({ authority }: CommandContext): boolean {
  if (authority.source !== "gateway") return authority.isOwner;
  return (authority.scopes ?? []).some((scope) => scope === "operator.admin" || scope === "operator.approvals");
}

/** The id and the decision, in either order. */
function parse(args: string): { readonly id: string; readonly decision: Decision } | undefined {
  const words = args.split(/\s+/).filter(Boolean);
  const [first = "", second = ""] = words;
  if (words.length !== 2) return undefined;
  const [later, earlier] = [asDecision(second), asDecision(first)];
  if (later) return { id: first, decision: later };
  return earlier ? { id: second, decision: earlier } : undefined;
}

export const approve: CommandDefinition = {
  name: "approve", aliases: [], description: "Decide whether a command may run", category: "management", argsHint: "<id> allow-once|allow-always|deny", acceptsArgs: true, native: false,
  listed: ({ approvals, tools }) => approvals?.exec?.enabled === true || tools?.exec?.host === "gateway" || tools?.exec?.security === "allowlist" || tools?.exec?.ask === "on-miss" || tools?.exec?.ask === "always",
  async run(command) {
    if (!mayDecide(command)) return reply("⚠️ /approve is for the owner of this assistant, or a client with the scope operator.approvals.");
    const wanted = parse(command.args);
    if (!wanted) return reply(USAGE);
    const { ctx, authority } = command;
    const by = [authority.source === "gateway" ? undefined : ctx.OriginatingChannel, ctx.SenderName ?? ctx.SenderUsername ?? ctx.SenderId ?? authority.senderId].filter(Boolean).join(":");
    const outcome = command.services.decideApproval(wanted.id, wanted.decision, by);
    switch (outcome) {
      case "decided":
        return reply(`✅ Exec approval ${DONE[wanted.decision]}. ID: ${wanted.id}`);
      case "unknown":
        return reply(`❌ There is no approval ${wanted.id} waiting: it was decided, it expired, or the id is wrong.`);
      case "ambiguous":
        return reply(`❌ More than one approval begins with ${wanted.id}; give the whole id.`);
    }
  },
};
