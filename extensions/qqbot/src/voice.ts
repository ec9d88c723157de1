import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { errorText, type Logger } from "openclaw/plugin-sdk";
import { fromWav, resample, toWav } from "./wav.ts";

const RATE = 24_000;
const FFMPEG_TIMEOUT_MS = 45_000;
const MAX_FFMPEG_BYTES = 64 * 1024 * 1024;

/** The bytes without the header that QQ puts before some recordings. */
function bareSilk(bytes: Buffer): Buffer {
  return bytes.toString("latin1", 0, 6) === "#!AMR\n" && bytes.toString("latin1", 6).includes("#!SILK") ? bytes.subarray(6) : bytes;
}

const isSilk = (bytes: Buffer): boolean => /^\x02?#!SILK_V3/.test(bytes.toString("latin1", 0, 12));

/** Writes `<path>.wav` beside a recording; undefined when it is no silk, or cannot be read. Never throws. */
export async function convertSilkToWav(path: string, log: Logger): Promise<string | undefined> {
  try {
    const bytes = bareSilk(await readFile(path));
    if (!isSilk(bytes)) return undefined;
    const { decode } = await import("silk-wasm");
    const { data } = await decode(bytes, RATE);
    const target = `${path.replace(/\.[a-z0-9]{1,5}$/i, "")}.wav`;
    await writeFile(target, toWav({ samples: new Int16Array(data.slice().buffer), sampleRate: RATE }), { mode: 0o600 });
    return target;
  } catch (err) {
    log.warn("voice message not converted", { reason: errorText(err) });
    return undefined;
  }
}

/**
 * A sound file as silk: WAV by own means, other formats through ffmpeg where it is installed. undefined when there is no
 * way; the caller then sends the file as it is. Never throws.
 */
export async function toSilk(bytes: Buffer, options: { readonly log: Logger; readonly ffmpeg?: string | undefined; readonly signal?: AbortSignal | undefined }): Promise<Buffer | undefined> {
  if (isSilk(bareSilk(bytes))) return bytes;
  try {
    const pcm = fromWav(bytes) ?? fromWav(await throughFfmpeg(bytes, options.ffmpeg ?? "ffmpeg", options.signal));
    if (!pcm || pcm.samples.length === 0) return undefined;
    const { samples } = resample(pcm, RATE);
    const { encode } = await import("silk-wasm");
    const { data } = await encode(toWav({ samples, sampleRate: RATE }), RATE);
    return Buffer.from(data);
  } catch (err) {
    options.log.debug("sound not converted to silk", { reason: errorText(err) });
    return undefined;
  }
}

function throughFfmpeg(bytes: Buffer, command: string, signal: AbortSignal | undefined): Promise<Buffer> {
  const stop = AbortSignal.any([AbortSignal.timeout(FFMPEG_TIMEOUT_MS), ...(signal ? [signal] : [])]);
  return new Promise((resolve, reject) => {
    const child = spawn(command, ["-hide_banner", "-loglevel", "error", "-protocol_whitelist", "pipe", "-i", "pipe:0", "-f", "s16le", "-ac", "1", "-ar", String(RATE), "pipe:1"], { stdio: ["pipe", "pipe", "ignore"], signal: stop });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_FFMPEG_BYTES) child.kill();
      else chunks.push(chunk);
    });
    child.once("error", reject);
    // ffmpeg may close its input early.
    child.stdin.on("error", () => undefined);
    child.once("close", (code) => {
      const data = Buffer.concat(chunks);
      if (code === 0) resolve(toWav({ samples: new Int16Array(new Uint8Array(data).buffer, 0, Math.floor(data.length / 2)), sampleRate: RATE }));
      else reject(new Error(`ffmpeg ended with code ${code ?? "none"}`));
    });
    child.stdin.end(bytes);
  });
}

/** `formats` as people write them: `.wav` or `wav`. */
export function hasFormat(fileName: string, formats: readonly string[]): boolean {
  const extension = extname(fileName).slice(1).toLowerCase();
  return extension !== "" && formats.some((format) => format.trim().toLowerCase().replace(/^\./, "") === extension);
}
