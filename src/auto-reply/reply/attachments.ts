import type { OutboundMedia } from "../../channels/contract/index.ts";

export interface MediaSource {
  /** A path or URL. */
  readonly source: string;
  readonly asVoice: boolean;
}

/** A local file that may be sent, or why not. */
export type ResolveMedia = (source: string, asVoice: boolean) => Promise<OutboundMedia | { readonly error: string }>;

/** The files of a message; one that may not be sent is named with the reason, for the person to read. */
export async function attachFiles(sources: readonly MediaSource[], resolve: ResolveMedia): Promise<{ readonly media: OutboundMedia[]; readonly problems: string[] }> {
  const media: OutboundMedia[] = [];
  const problems: string[] = [];
  for (const { source, asVoice } of sources) {
    const resolved = await resolve(source, asVoice);
    if ("error" in resolved) problems.push(`⚠️ ${source} could not be attached: ${resolved.error}`);
    else media.push(resolved);
  }
  return { media, problems };
}
