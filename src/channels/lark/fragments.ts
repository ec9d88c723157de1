import { type Frame, headerOf } from "./frames.ts";

/** Source: spec channels-cn §4.2: parts of one event arrive within ten seconds. */
const KEEP_MS = 10_000;
const MAX_PENDING = 100;
const MAX_PARTS = 64;

/** Puts events together that come in several frames. */
export interface Fragments {
  /** The whole payload once its last part is there. */
  add(frame: Frame): Buffer | undefined;
}

export function createFragments(now: () => number): Fragments {
  const pending = new Map<string, { readonly parts: (Uint8Array | undefined)[]; readonly since: number }>();
  return {
    add(frame) {
      const payload = frame.payload ?? new Uint8Array();
      const sum = Number(headerOf(frame, "sum") ?? "1");
      const seq = Number(headerOf(frame, "seq") ?? "0");
      if (!(sum > 1)) return Buffer.from(payload);
      const id = headerOf(frame, "message_id") ?? "";
      if (sum > MAX_PARTS || !Number.isInteger(seq) || seq < 0 || seq >= sum) return undefined;
      for (const [other, { since }] of pending) if (now() - since > KEEP_MS || pending.size > MAX_PENDING) pending.delete(other);
      const entry = pending.get(id) ?? { parts: Array.from<Uint8Array | undefined>({ length: sum }), since: now() };
      entry.parts[seq] = payload;
      pending.set(id, entry);
      if (entry.parts.includes(undefined)) return undefined;
      pending.delete(id);
      return Buffer.concat(entry.parts.map((part) => part ?? new Uint8Array()));
    },
  };
}
