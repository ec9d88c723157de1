import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { errorText, type Logger, type OutboundTarget, type StreamHandle, writeFileAtomic } from "openclaw/plugin-sdk";
import type { QQApi } from "./api.ts";
import { textBeforeTags } from "./media-tags.ts";
import { mayBePayload } from "./payload.ts";
import type { QQTarget } from "./targets.ts";
import type { PassiveReply, Windows } from "./windows.ts";

const GOING_ON = 1;
const END = 10;
const answer = z.object({ id: z.string().optional() });
const orphan = z.object({ openid: z.string(), streamId: z.string(), passive: z.object({ msg_id: z.string(), msg_seq: z.number() }), index: z.number(), shown: z.string() });
type Orphan = z.infer<typeof orphan>;
/** Only messages are answered by a stream. */
type StreamReply = Extract<PassiveReply, { readonly msg_id: string }>;

export interface StreamDeps {
  readonly api: Pick<QQApi, "call">;
  readonly windows: Windows;
  readonly log: Logger;
  readonly intervalMs: number;
  readonly maxChars: number;
  /** Where open streams are written down; undefined: nowhere. */
  readonly dir: string | undefined;
  /** The stream ended with less than the answer: `text` is in the chat, the rest is to be sent. */
  onShown(msgId: string, shown: { readonly text: string; readonly messageId: string }): void;
}

/**
 * An answer that grows, for people (C2C) only. It counts as one reply. What has been shown cannot be taken back: a stream that
 * cannot hold the whole answer ends with its beginning. Source: spec channels-cn §1.6 (streaming).
 */
export function openStream(deps: StreamDeps, target: QQTarget, to: OutboundTarget): StreamHandle {
  const { log } = deps;
  const id = randomUUID();
  let passive: StreamReply | undefined;
  let streamId: string | undefined;
  let index = 0;
  let shown = "";
  let latest = "";
  let isBroken = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let lastAtMs = 0;

  async function put(text: string, state: number): Promise<void> {
    const reply = passive ?? deps.windows.take(to.replyContext);
    passive = reply && "msg_id" in reply ? reply : undefined;
    if (!passive) throw new Error("the time to answer is over");
    const parsed = answer.parse(await deps.api.call("POST", streamPath(target.id), streamBody({ openid: target.id, streamId, passive, index, shown: text }, state)));
    index++;
    streamId ??= parsed.id;
    shown = text;
    if (streamId === undefined) throw new Error("QQ gave the stream no id");
    if (state === GOING_ON) await keep(deps.dir, id, { openid: target.id, streamId, passive, index, shown });
  }
  async function step(): Promise<void> {
    lastAtMs = Date.now();
    try {
      await put(showable(latest, deps.maxChars), GOING_ON);
    } catch (err) {
      isBroken = true;
      log.debug("QQ stream abandoned", { reason: errorText(err) });
    }
  }
  function schedule(): void {
    const next = showable(latest, deps.maxChars);
    if (isClosed || isBroken || timer || running || next === "" || next === shown) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = step().finally(() => {
        running = undefined;
        schedule();
      });
    }, Math.max(0, lastAtMs + deps.intervalMs - Date.now()));
  }
  async function stop(): Promise<void> {
    isClosed = true;
    clearTimeout(timer);
    await running;
  }
  /** Ends it with `text`; undefined when nothing of it is in the chat. */
  async function close(text: string): Promise<string | undefined> {
    if (streamId === undefined) return undefined;
    try {
      await put(text, END);
    } catch (err) {
      log.warn("QQ stream not closed", { reason: errorText(err) });
    }
    await forget(deps.dir, id);
    if (passive && shown !== "") deps.onShown(passive.msg_id, { text: shown, messageId: streamId });
    return streamId;
  }

  return {
    ref: { id },
    update(fullText) {
      latest = fullText;
      schedule();
    },
    async finish(fullText) {
      await stop();
      const head = mayBePayload(fullText) ? "" : textBeforeTags(fullText, { isFinal: true });
      const part = head.length > deps.maxChars ? shown : head.trimEnd() === "" ? shown : head;
      const messageId = await close(part);
      return messageId !== undefined && shown === fullText ? { kind: "replaced", messageIds: [messageId] } : { kind: "discarded" };
    },
    async fail() {
      await stop();
      await close(showable(latest, deps.maxChars) || shown);
    },
  };
}

/** Ends a stream that a killed process left growing. */
export async function closeOrphan(deps: Pick<StreamDeps, "api" | "dir" | "log">, ref: unknown): Promise<void> {
  const parsed = z.object({ id: z.uuid() }).safeParse(ref).data;
  if (!parsed || deps.dir === undefined) return;
  const left = await readFile(pathOf(deps.dir, parsed.id), "utf8").then((text) => orphan.parse(JSON.parse(text)), () => undefined);
  if (!left) return;
  await deps.api.call("POST", streamPath(left.openid), streamBody(left, END)).catch((err: unknown) => deps.log.warn("QQ stream not closed", { reason: errorText(err) }));
  await forget(deps.dir, parsed.id);
}

const showable = (text: string, maxChars: number): string => {
  const head = mayBePayload(text) ? "" : textBeforeTags(text, { isFinal: false }).trimEnd();
  return head.length > maxChars ? "" : head;
};

const streamPath = (openid: string): string => `/v2/users/${encodeURIComponent(openid)}/stream_messages`;

function streamBody({ streamId, passive, index, shown }: Omit<Orphan, "streamId"> & { readonly streamId: string | undefined }, state: number): object {
  return {
    input_mode: "replace", input_state: state, content_type: "markdown", content_raw: shown, event_id: passive.msg_id, ...passive, index,
    ...(streamId === undefined ? {} : { stream_msg_id: streamId }),
  };
}

const pathOf = (dir: string, id: string): string => join(dir, `${id}.json`);

async function keep(dir: string | undefined, id: string, stream: Orphan): Promise<void> {
  if (dir === undefined) return;
  // Whoever dies while it is rewritten leaves the one before.
  await writeFileAtomic(pathOf(dir, id), JSON.stringify(stream));
}

async function forget(dir: string | undefined, id: string): Promise<void> {
  if (dir !== undefined) await rm(pathOf(dir, id), { force: true });
}
