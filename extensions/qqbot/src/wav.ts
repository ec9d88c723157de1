/** Sound as signed 16-bit samples of one channel. */
export interface Pcm {
  readonly samples: Int16Array;
  readonly sampleRate: number;
}

/** A WAV file of mono 16-bit sound. */
export function toWav({ samples, sampleRate }: Pcm): Buffer {
  const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(36 + data.length, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

/** The first channel of a WAV file with 16-bit samples; undefined for what is none. */
export function fromWav(bytes: Buffer): Pcm | undefined {
  if (bytes.length < 12 || bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let channels = 0;
  let sampleRate = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString("latin1", at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = bytes.subarray(at + 8, Math.min(bytes.length, at + 8 + size));
    if (id === "fmt " && body.length >= 16) {
      channels = body.readUInt16LE(2);
      sampleRate = body.readUInt32LE(4);
      if (body.readUInt16LE(14) !== 16 || channels < 1 || channels > 8 || sampleRate < 4000) return undefined;
    }
    if (id === "data" && channels > 0) {
      const frames = Math.floor(body.length / (2 * channels));
      const samples = new Int16Array(frames);
      for (let frame = 0; frame < frames; frame++) samples[frame] = body.readInt16LE(frame * 2 * channels);
      return { samples, sampleRate };
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** Linear interpolation: good enough for speech. */
export function resample({ samples, sampleRate }: Pcm, rate: number): Pcm {
  if (sampleRate === rate) return { samples, sampleRate };
  const out = new Int16Array(Math.floor((samples.length * rate) / sampleRate));
  for (let index = 0; index < out.length; index++) {
    const at = (index * sampleRate) / rate;
    const low = Math.floor(at);
    const a = samples[low] ?? 0;
    const b = samples[low + 1] ?? a;
    out[index] = Math.round(a + (b - a) * (at - low));
  }
  return { samples: out, sampleRate: rate };
}
