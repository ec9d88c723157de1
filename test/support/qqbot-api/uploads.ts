import { createHash, randomUUID } from "node:crypto";

const BLOCK_BYTES = 1024;
const FIRST_BYTES_HASHED = 10_002_432;
const hash = (name: "md5" | "sha1", bytes: Uint8Array): string => createHash(name).update(bytes).digest("hex");

type Answer = readonly [status: number, body: object];

interface Upload {
  readonly plan: Readonly<Record<string, unknown>>;
  readonly base: string;
  readonly parts: Map<number, Buffer>;
  readonly finished: Set<number>;
}

/** Large files of the emulator: prepare, put the parts, finish each, name the upload. Source: spec channels-cn §1.6. */
export function createUploads(origin: () => string) {
  const uploads = new Map<string, Upload>();
  const whole: Buffer[] = [];
  let pending = 0;

  function prepare(base: string, body: Readonly<Record<string, unknown>>): Answer {
    const missing = ["file_type", "file_name", "file_size", "md5", "sha1", "md5_10m"].find((key) => body[key] === undefined);
    if (missing) return [400, { code: 40_093_000, message: `${missing} is missing` }];
    const id = randomUUID();
    uploads.set(id, { plan: body, base, parts: new Map(), finished: new Set() });
    const count = Math.ceil(Number(body["file_size"]) / BLOCK_BYTES);
    return [200, { upload_id: id, block_size: BLOCK_BYTES, parts: Array.from({ length: count }, (_, at) => ({ index: at + 1, presigned_url: `${origin()}/parts/${id}/${at + 1}` })) }];
  }

  function finishPart(body: Readonly<Record<string, unknown>>): Answer {
    const upload = uploads.get(String(body["upload_id"]));
    const part = upload?.parts.get(Number(body["part_index"]));
    if (!upload || !part || part.length !== body["block_size"] || hash("md5", part) !== body["md5"]) return [400, { code: 40_093_003, message: "no such part" }];
    if (pending > 0) {
      pending--;
      return [400, { code: 40_093_001, message: "part is pending" }];
    }
    upload.finished.add(Number(body["part_index"]));
    return [200, {}];
  }

  function complete(base: string, id: string): Answer {
    const upload = uploads.get(id);
    const bytes = Buffer.concat([...(upload?.parts ?? [])].toSorted(([a], [b]) => a - b).map(([, part]) => part));
    const isWhole = upload?.base === base && upload.finished.size === upload.parts.size && bytes.length === upload.plan["file_size"]
      && hash("md5", bytes) === upload.plan["md5"] && hash("sha1", bytes) === upload.plan["sha1"] && hash("md5", bytes.subarray(0, FIRST_BYTES_HASHED)) === upload.plan["md5_10m"];
    if (!upload || !isWhole) return [400, { code: 40_093_004, message: "the upload is not whole" }];
    whole.push(bytes);
    return [200, { file_uuid: id, file_info: `info-${String(upload.plan["file_type"])}`, ttl: 3600 }];
  }

  return {
    /** Files that arrived in parts. */
    whole: (): readonly Buffer[] => whole,
    /** The next so many parts are not ready when they are finished. */
    delayParts: (count: number) => void (pending = count),
    put(path: string, bytes: Buffer): number {
      const [, id = "", index = ""] = /^\/parts\/([^/]+)\/(\d+)$/.exec(path) ?? [];
      const upload = uploads.get(id);
      upload?.parts.set(Number(index), bytes);
      return upload ? 200 : 404;
    },
    /** undefined: a call that is none of these. */
    answer(path: string, body: Readonly<Record<string, unknown>>): Answer | undefined {
      const [, base, what] = /^(\/v2\/(?:users|groups)\/[^/]+)\/(upload_prepare|upload_part_finish|files)$/.exec(path) ?? [];
      if (base === undefined) return undefined;
      if (what === "upload_prepare") return prepare(base, body);
      if (what === "upload_part_finish") return finishPart(body);
      return typeof body["upload_id"] === "string" ? complete(base, body["upload_id"]) : undefined;
    },
  };
}
