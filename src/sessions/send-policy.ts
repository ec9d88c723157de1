import type { OpenClawConfig } from "../config/index.ts";
import type { SessionEntry } from "./types.ts";

/**
 * May this session speak? The entry decides, then the rules: first `deny` match wins, any allow match allows, else
 * the default. Source: spec agent-pipeline §2.2.
 */
export function resolveSendPolicy(cfg: OpenClawConfig, key: string, entry: Pick<SessionEntry, "sendPolicy" | "channel" | "chatType"> | undefined): "allow" | "deny" {
  if (entry?.sendPolicy) return entry.sendPolicy;
  const policy = cfg.session?.sendPolicy;
  const bare = key.replace(/^agent:[^:]+:/, "");
  const chatType = entry?.chatType ?? /(?:^|:)(direct|group|channel):/.exec(bare)?.[1];
  const channel = entry?.channel ?? /^([^:]+):(?:[^:]+:)?(?:direct|group|channel):/.exec(bare)?.[1];
  let allowed = false;
  for (const rule of policy?.rules ?? []) {
    const match = rule.match;
    const hits =
      (match?.channel === undefined || match.channel.toLowerCase() === channel?.toLowerCase()) &&
      (match?.chatType === undefined || (match.chatType === "dm" ? "direct" : match.chatType) === chatType) &&
      (match?.keyPrefix === undefined || bare.startsWith(match.keyPrefix.toLowerCase()) || key.startsWith(match.keyPrefix.toLowerCase())) &&
      (match?.rawKeyPrefix === undefined || key.startsWith(match.rawKeyPrefix.toLowerCase()));
    if (!hits) continue;
    if (rule.action === "deny") return "deny";
    allowed = true;
  }
  return allowed ? "allow" : (policy?.default ?? "allow");
}
