import type { OpenClawConfig } from "../../config/index.ts";

export interface PrefixValues {
  readonly provider: string;
  readonly modelId: string;
  readonly thinkingLevel: string;
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
  const short = values.modelId.split("/").at(-1)?.replace(/-\d{8}$/, "").replace(/-latest$/, "") ?? values.modelId;
  const known: Readonly<Record<string, string | undefined>> = {
    model: short, modelfull: `${values.provider}/${values.modelId}`, provider: values.provider, thinkinglevel: values.thinkingLevel,
    think: values.thinkingLevel, "identity.name": values.identityName, identityname: values.identityName,
  };
  return raw.replace(/\{([A-Za-z.]+)\}/g, (whole, name: string) => known[name.toLowerCase()] ?? whole);
}

export function applyPrefix(prefix: string | undefined, body: string): string {
  return prefix === undefined || body === "" || body.startsWith(prefix) ? body : `${prefix} ${body}`;
}

const record = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
