import type { UnderstoodMedia } from "../agents/index.ts";
import type { InboundMessage } from "../channels/contract/index.ts";
import type { InboxRow } from "../delivery/index.ts";
import { resolveSessionKey } from "../routing/index.ts";
import type { ReceivedMedia } from "./inbound-context.ts";
import { chatKey } from "./inbox-rows.ts";
import type { IntakeDeps } from "./intake.ts";
import type { UnderstandDeps } from "./understand.ts";

/** A recording in a group that calls the bot by name. */
export interface Heard {
  readonly row: InboxRow;
  readonly files: readonly ReceivedMedia[];
  readonly understood: UnderstoodMedia;
}

export interface HearingDeps extends Pick<UnderstandDeps, "config" | "media" | "downloadMedia" | "log">, Pick<IntakeDeps, "admit"> {
  readonly inbox: Pick<UnderstandDeps["inbox"], "finish">;
  readonly agents: { readonly models: Pick<UnderstandDeps["agents"]["models"], "selectDefault"> };
  readonly history: Pick<IntakeDeps["history"], "add">;
}

/** ms for one recording; the messages behind it wait. */
const LIMIT_MS = 90_000;

/** Nothing but recordings, which may hold what a mention pattern looks for. */
export const isOnlySpoken = ({ text, media = [] }: InboundMessage): boolean => text.trim() === "" && media.length > 0 && media.every(({ kind }) => kind === "voice" || kind === "audio");

/**
 * Listens to a recording that is for the bot only if it says so. undefined: it does not, and has become talk of the group, in
 * words where there are some. Source: spec channels §4.1 (a spoken name counts).
 */
export function createHearing({ config, inbox, agents, media, downloadMedia, admit, history, log }: HearingDeps): (row: InboxRow) => Promise<Heard | undefined> {
  async function listen({ message, agentId: given }: InboxRow): Promise<Pick<Heard, "files" | "understood">> {
    const { agentId, sessionKey } = resolveSessionKey(config(), message, given);
    const { media: files } = await downloadMedia(message);
    const { ref: model } = await agents.models.selectDefault(agentId);
    const understood = await media.understand(files, { channel: message.channel, chatType: message.chat.type, sessionKey }, { agentId, model, signal: AbortSignal.timeout(LIMIT_MS) });
    return { files, understood };
  }

  return async (row) => {
    const { message } = row;
    // Nobody has spoken to the bot yet: that it could not listen is not for the group.
    const heard = await listen(row).catch((err: unknown) => log.warn("a recording was not heard", { channel: message.channel, err }));
    const transcript = heard?.understood.transcript;
    const verdict = admit(message, transcript);
    if (heard && verdict.kind === "run") {
      const authority = { ...row.authority, isOwner: verdict.isOwner, commandAuthorized: verdict.commandAuthorized };
      return { row: { ...row, authority, wasMentioned: verdict.wasMentioned }, ...heard };
    }
    log.debug("a recording is not for the bot", { channel: message.channel, verdict: verdict.kind });
    if (verdict.kind === "history") history.add(chatKey(message), { sender: message.sender.name ?? message.sender.username ?? message.sender.id, body: transcript || "<media>", atMs: message.timestampMs }, verdict.limit);
    inbox.finish([row.id]);
    return undefined;
  };
}
