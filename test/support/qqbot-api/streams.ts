import { randomUUID } from "node:crypto";

export interface FakeStream {
  readonly openid: string;
  readonly msgId: string;
  readonly seq: number;
  index: number;
  text: string;
  /** How often it was written. */
  updates: number;
  isOpen: boolean;
}

/** Growing messages of the emulator; people only, each update in its turn. Source: spec channels-cn §1.6 (streaming). */
export function createStreams() {
  const streams = new Map<string, FakeStream>();
  return {
    all: (): readonly FakeStream[] => [...streams.values()],
    /** `claim` takes the pair of message and number for a new stream, or says why not. */
    answer(openid: string, body: Readonly<Record<string, unknown>>, claim: () => object | undefined): readonly [number, object] {
      const { input_mode: mode, input_state: state, content_type: type, content_raw: text, msg_id: msgId, event_id: eventId, msg_seq: seq, index, stream_msg_id: id } = body;
      if (mode !== "replace" || (state !== 1 && state !== 10) || type !== "markdown" || typeof text !== "string" || text === "" || eventId !== msgId) return [400, { code: 304_061, message: "bad stream message" }];
      if (id === undefined) {
        const refusal = claim();
        if (refusal) return [400, refusal];
        if (index !== 0) return [400, { code: 304_062, message: "a stream begins with index 0" }];
        const fresh = randomUUID();
        streams.set(fresh, { openid, msgId: String(msgId), seq: Number(seq), index: 0, text, updates: 1, isOpen: state === 1 });
        return [200, { id: fresh }];
      }
      const known = streams.get(String(id));
      if (!known?.isOpen || known.openid !== openid || known.msgId !== msgId || known.seq !== seq) return [400, { code: 304_063, message: "no such stream" }];
      if (index !== known.index + 1) return [400, { code: 304_064, message: `index ${known.index + 1} comes next` }];
      Object.assign(known, { index, text, updates: known.updates + 1, isOpen: state === 1 });
      return [200, { id }];
    },
  };
}
