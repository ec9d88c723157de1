import fc from "fast-check";
import { expect, it } from "vitest";
import { createFragments } from "./fragments.ts";
import { decodeFrame, encodeFrame, type Frame, headerOf, pingFrame } from "./frames.ts";
import { pingIntervalMs } from "./link.ts";

it("writes the ping that the platform expects", () => {
  expect(Buffer.from(pingFrame(33554678)).toString("hex")).toBe("0800100018f681801020002a0c0a0474797065120470696e67");
});

it("reads back whatever it writes", () => {
  const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const i32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  const frames = fc.record({
    seqId: u64, logId: u64, service: i32, method: i32, headers: fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }))),
    payloadEncoding: fc.option(fc.string(), { nil: undefined }), payloadType: fc.option(fc.string(), { nil: undefined }), payload: fc.option(fc.uint8Array(), { nil: undefined }), logIdNew: fc.option(fc.string(), { nil: undefined }),
  });
  fc.assert(fc.property(frames, (frame) => {
    const back = decodeFrame(encodeFrame(frame));
    expect({ ...back, payload: back.payload && [...back.payload] }).toEqual({ ...frame, payload: frame.payload && [...frame.payload] });
  }));
});

it("refuses what is no frame, and never hangs or reads beyond the end", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    try {
      decodeFrame(bytes);
    } catch (err) {
      expect(err).toBeInstanceOf(RangeError);
    }
  }));
});

it("passes over fields that it does not know", () => {
  const frame = Buffer.concat([encodeFrame({ seqId: 1n, logId: 2n, service: 3, method: 1, headers: [["type", "event"]] }), Buffer.from([0x61, 1, 2, 3, 4, 5, 6, 7, 8, 0x6d, 1, 2, 3, 4, 0x70, 5])]);
  expect(headerOf(decodeFrame(frame), "type")).toBe("event");
});

it("puts parts together in any order, forgets late ones and refuses wrong counts", () => {
  let nowMs = 0;
  const fragments = createFragments(() => nowMs);
  const part = (id: string, sum: number, seq: number, text: string): Frame => ({ seqId: 0n, logId: 0n, service: 1, method: 1, headers: [["message_id", id], ["sum", String(sum)], ["seq", String(seq)]], payload: Buffer.from(text) });
  expect(fragments.add(part("a", 1, 0, "whole"))?.toString()).toBe("whole");
  expect(fragments.add(part("b", 2, 1, "ld"))).toBeUndefined();
  expect(fragments.add(part("b", 2, 0, "wor"))?.toString()).toBe("world");
  fragments.add(part("c", 2, 0, "x"));
  nowMs = 10_001;
  expect(fragments.add(part("c", 2, 1, "y"))).toBeUndefined();
  expect(fragments.add(part("d", 2, 7, "y"))).toBeUndefined();
  expect(fragments.add(part("e", 1e9, 0, "y"))).toBeUndefined();
});

it("pings as often as the platform asks, but not without pause", () => {
  expect([{ PingInterval: 120 }, { PingInterval: 0.001 }, { PingInterval: -1 }, { PingInterval: "5" }, null, 7].map(pingIntervalMs)).toEqual([120_000, 1000, undefined, undefined, undefined, undefined]);
});
