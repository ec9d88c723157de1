import type { OpenClawConfig } from "../../config/index.ts";

export interface PrefixValues {
  readonly provider: string | undefined;
  readonly modelId: string | undefined;
  readonly thinkingLevel: string | undefined;
  readonly identityName: string | undefined;
}

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

/** Names in braces for what they stand for; what is not known stays as it is written. */
export function fillPrefix(raw: string, { provider, modelId, thinkingLevel, identityName }: PrefixValues): string {
  const known: Readonly<Record<string, string | undefined>> = {
    model: modelId === undefined ? undefined : shortModelName(modelId), modelfull: provider !== undefined && modelId !== undefined ? `${provider}/${modelId}` : undefined,
    provider, thinkinglevel: thinkingLevel, think: thinkingLevel, "identity.name": identityName, identityname: identityName,
  };
  return raw.replace(/\{([A-Za-z.]+)\}/g, (whole, name: string) => known[name.toLowerCase()] ?? whole);
}

/** Without the path before it and the date or `latest` behind it. */
export const shortModelName = (modelId: string): string => modelId.split("/").at(-1)?.replace(/-\d{8}$/, "").replace(/-latest$/, "") ?? modelId;

export function applyPrefix(prefix: string | undefined, body: string): string {
  return prefix === undefined || body === "" || body.startsWith(prefix) ? body : `${prefix} ${body}`;
}

const record = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
