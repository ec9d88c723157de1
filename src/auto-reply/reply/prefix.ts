import type { OpenClawConfig } from "../../config/index.ts";
import { fillPrefix, type PrefixValues } from "../../infra/text/index.ts";

/** Account, then channel, then messages.responsePrefix; `auto` is the agent's name in brackets. Source: spec agent-pipeline-output §6.6. */
export function resolveResponsePrefix(cfg: OpenClawConfig, channel: string | undefined, accountId: string | undefined, values: PrefixValues): string | undefined {
  const channels = cfg.channels as Readonly<Record<string, unknown>> | undefined;
  const section = record(channel === undefined ? undefined : channels?.[channel]);
  const account = record(record(section["accounts"])[accountId ?? "default"]);
  const raw = text(account["responsePrefix"]) ?? text(section["responsePrefix"]) ?? cfg.messages?.responsePrefix;
  if (raw === undefined || raw === "") return undefined;
  if (raw === "auto") return values.identityName ? `[${values.identityName}]` : undefined;
  return fillPrefix(raw, values);
}

const record = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
