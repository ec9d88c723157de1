import type { OpenClawConfig } from "../config/index.ts";
import { resolveDefaultAgentId, resolveKnownAgentId } from "./agents.ts";

export interface RouteInput {
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly peer?: { readonly kind: string; readonly id: string } | undefined;
  readonly parentPeer?: { readonly kind: string; readonly id: string } | undefined;
  readonly guildId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly roles?: readonly string[] | undefined;
}

export interface Route {
  readonly agentId: string;
  /** Which tier decided, e.g. `binding.peer` or `default`. */
  readonly matchedBy: string;
}

type Binding = NonNullable<OpenClawConfig["bindings"]>[number];

/** First tier with a hit wins; inside a tier the order of the config. Source: spec agent-pipeline §2.1. */
export function resolveRoute(cfg: OpenClawConfig, input: RouteInput): Route {
  const candidates = (cfg.bindings ?? []).filter((binding) => bindingApplies(binding, input));
  for (const [tier, test] of TIERS) {
    const hit = candidates.find((binding) => test(binding, input));
    if (hit) return { agentId: resolveKnownAgentId(cfg, hit.agentId), matchedBy: tier };
  }
  return { agentId: resolveDefaultAgentId(cfg), matchedBy: "default" };
}

const lower = (value: unknown): string => String(value ?? "").trim().toLowerCase();

function samePeer(binding: Binding, peer: RouteInput["peer"]): boolean {
  const wanted = binding.match.peer;
  if (!wanted || !peer) return false;
  const kind = (value: string): string => (lower(value) === "dm" ? "direct" : lower(value));
  return kind(wanted.kind ?? "") === kind(peer.kind) && lower(wanted.id) === lower(peer.id) && lower(wanted.id) !== "";
}

/** Channel, account and every constraint except the peer, which has tiers of its own. */
function bindingApplies(binding: Binding, input: RouteInput): boolean {
  const { match } = binding;
  if (lower(match.channel) !== lower(input.channel)) return false;
  const account = match.accountId === undefined ? "default" : lower(match.accountId);
  if (account !== "*" && account !== (lower(input.accountId) || "default")) return false;
  if (match.guildId !== undefined && lower(match.guildId) !== lower(input.guildId)) return false;
  if (match.teamId !== undefined && lower(match.teamId) !== lower(input.teamId)) return false;
  if (match.roles?.length && !match.roles.some((role) => (input.roles ?? []).includes(role))) return false;
  return match.peer === undefined || samePeer(binding, input.peer) || samePeer(binding, input.parentPeer);
}

const TIERS: readonly (readonly [string, (binding: Binding, input: RouteInput) => boolean])[] = [
  ["binding.peer", (b, i) => samePeer(b, i.peer)],
  ["binding.peer.parent", (b, i) => samePeer(b, i.parentPeer)],
  ["binding.guild+roles", (b) => b.match.guildId !== undefined && (b.match.roles?.length ?? 0) > 0],
  ["binding.guild", (b) => b.match.guildId !== undefined],
  ["binding.team", (b) => b.match.teamId !== undefined],
  ["binding.account", (b) => b.match.accountId !== "*"],
  ["binding.channel", () => true],
];
