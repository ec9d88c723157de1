import { ChannelError, type ChannelPlugin, type InboundMessage } from "../channels/contract/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { ensureDir } from "../infra/atomic-file.ts";
import type { Logger } from "../infra/log.ts";
import { channelSection } from "../auto-reply/index.ts";
import { inboundMediaDir } from "../media/index.ts";

const DEFAULT_MAX_MB = 5;
/** For all media of one message: later messages of the chat wait for them. */
const TIME_LIMIT_MS = 120_000;

export interface MediaDownloadDeps {
  readonly config: () => OpenClawConfig;
  readonly channel: (id: string) => { readonly gateway?: Pick<NonNullable<ChannelPlugin["gateway"]>, "downloadMedia"> | undefined } | undefined;
  readonly stateDir: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly timeLimitMs?: number | undefined;
}

/** Fetches what a message announced. A medium that fails is left out; `problem` is the text for its sender. */
export function createMediaDownload(deps: MediaDownloadDeps): (message: Pick<InboundMessage, "channel" | "accountId" | "media">) => Promise<{ media: { path: string; mimeType: string; fileName?: string | undefined }[]; problem: string | undefined }> {
  return async (message) => {
    const plugin = deps.channel(message.channel);
    const download = plugin?.gateway?.downloadMedia;
    if (!message.media?.length || !download) return { media: [], problem: undefined };
    const cfg = deps.config();
    const section = channelSection(cfg, message.channel, message.accountId);
    const maxBytes = (typeof section["mediaMaxMb"] === "number" ? section["mediaMaxMb"] : DEFAULT_MAX_MB) * 1024 * 1024;
    const dir = inboundMediaDir(deps.stateDir);
    await ensureDir(dir);
    const media: { path: string; mimeType: string; fileName?: string | undefined }[] = [];
    let problem: string | undefined;
    const late = AbortSignal.timeout(deps.timeLimitMs ?? TIME_LIMIT_MS);
    const signal = AbortSignal.any([deps.signal, late]);
    for (const item of message.media) {
      try {
        media.push(await download(cfg, message.accountId, item, { dir, maxBytes, signal }));
      } catch (err) {
        deps.log.warn("medium not downloaded", { channel: message.channel, kind: item.kind, err });
        if (late.aborted) problem = "A file of your message could not be fetched in time; I go on without it.";
        else if (err instanceof ChannelError && (err.code === "too-large" || err.code === "unreachable")) problem = err.message;
      }
    }
    return { media, problem };
  };
}
