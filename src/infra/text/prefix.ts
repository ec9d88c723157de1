/** What the text before an answer may name. Source: spec agent-pipeline-output §6.6. */
export interface PrefixValues {
  readonly provider: string | undefined;
  readonly modelId: string | undefined;
  readonly thinkingLevel: string | undefined;
  readonly identityName: string | undefined;
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
