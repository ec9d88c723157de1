/** Frames of the long connection: protobuf message `pbbp2.Frame`. Source: spec channels-cn §4.2. */
export interface Frame {
  readonly seqId: bigint;
  readonly logId: bigint;
  readonly service: number;
  /** 0 control (ping, pong), 1 data. */
  readonly method: number;
  readonly headers: readonly (readonly [key: string, value: string])[];
  readonly payloadEncoding?: string | undefined;
  readonly payloadType?: string | undefined;
  readonly payload?: Uint8Array | undefined;
  readonly logIdNew?: string | undefined;
}

export const METHOD_CONTROL = 0;
export const METHOD_DATA = 1;
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

export const headerOf = (frame: Frame, key: string): string | undefined => frame.headers.find(([name]) => name === key)?.[1];

export const pingFrame = (service: number): Uint8Array => encodeFrame({ seqId: 0n, logId: 0n, service, method: METHOD_CONTROL, headers: [["type", "ping"]] });

export function encodeFrame(frame: Frame): Uint8Array {
  const out: number[] = [];
  const text = (field: number, value: string | undefined): void => {
    if (value !== undefined) bytes(out, field, Buffer.from(value, "utf8"));
  };
  number(out, 1, frame.seqId);
  number(out, 2, frame.logId);
  number(out, 3, BigInt(frame.service));
  number(out, 4, BigInt(frame.method));
  for (const [key, value] of frame.headers) {
    const header: number[] = [];
    bytes(header, 1, Buffer.from(key, "utf8"));
    bytes(header, 2, Buffer.from(value, "utf8"));
    bytes(out, 5, header);
  }
  text(6, frame.payloadEncoding);
  text(7, frame.payloadType);
  if (frame.payload) bytes(out, 8, frame.payload);
  text(9, frame.logIdNew);
  return Uint8Array.from(out);
}

function varint(out: number[], value: bigint): void {
  let rest = BigInt.asUintN(64, value);
  while (rest > 127n) {
    out.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  out.push(Number(rest));
}

function number(out: number[], field: number, value: bigint): void {
  varint(out, BigInt((field << 3) | VARINT));
  varint(out, value);
}

function bytes(out: number[], field: number, value: ArrayLike<number>): void {
  varint(out, BigInt((field << 3) | BYTES));
  varint(out, BigInt(value.length));
  for (let at = 0; at < value.length; at++) out.push(value[at] ?? 0);
}

/** Unknown fields are passed over. @throws RangeError for what is no frame */
export function decodeFrame(data: Uint8Array): Frame {
  const numbers = new Map<number, bigint>();
  const blobs = new Map<number, Uint8Array>();
  const headers: [string, string][] = [];
  for (const { field, value } of fields(data)) {
    if (typeof value === "bigint") numbers.set(field, value);
    else if (field === 5) headers.push(decodeHeader(value));
    else blobs.set(field, value);
  }
  const text = (field: number): string | undefined => {
    const blob = blobs.get(field);
    return blob === undefined ? undefined : utf8(blob);
  };
  const method = numbers.get(4);
  if (method === undefined) throw new RangeError("the frame has no method");
  return {
    seqId: numbers.get(1) ?? 0n, logId: numbers.get(2) ?? 0n, service: Number(BigInt.asIntN(32, numbers.get(3) ?? 0n)), method: Number(BigInt.asIntN(32, method)),
    headers, payloadEncoding: text(6), payloadType: text(7), payload: blobs.get(8), logIdNew: text(9),
  };
}

function decodeHeader(data: Uint8Array): [string, string] {
  let key = "";
  let text = "";
  for (const { field, value } of fields(data)) {
    if (typeof value === "bigint") continue;
    if (field === 1) key = utf8(value);
    if (field === 2) text = utf8(value);
  }
  return [key, text];
}

const utf8 = (data: Uint8Array): string => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8");

function* fields(data: Uint8Array): Generator<{ readonly field: number; readonly value: bigint | Uint8Array }> {
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = data[at++];
      if (byte === undefined) throw new RangeError("the frame ends within a number");
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    throw new RangeError("a number of the frame is too long");
  };
  const take = (length: number): Uint8Array => {
    if (length > data.length - at) throw new RangeError("the frame ends within a field");
    at += length;
    return data.subarray(at - length, at);
  };
  while (at < data.length) {
    const tag = readVarint();
    const field = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case VARINT:
        yield { field, value: readVarint() };
        break;
      case BYTES:
        yield { field, value: take(Number(readVarint())) };
        break;
      case FIXED64:
        take(8);
        break;
      case FIXED32:
        take(4);
        break;
      default:
        throw new RangeError("the frame has a field of an unknown kind");
    }
  }
}
