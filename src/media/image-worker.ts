import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { createKeyedQueue } from "../infra/keyed-queue.ts";

export interface ImageTask {
  readonly bytes: Uint8Array;
  readonly maxSidePx: number;
  readonly maxBytes: number;
  /** An image within `maxSidePx` may stay as it is. */
  readonly mayStay: boolean;
}

export type ImageWork =
  | { readonly kind: "stays" }
  | { readonly kind: "jpeg"; readonly bytes: Uint8Array }
  | { readonly kind: "undecodable" }
  | { readonly kind: "too-large" }
  | { readonly kind: "too-slow" };

const TIME_LIMIT_MS = 30_000;

/** Decodes images one after another in a thread of their own: a photo of a phone takes seconds of CPU. */
export interface ImageWorker {
  run(task: ImageTask): Promise<ImageWork>;
}

export function createImageWorker(): ImageWorker {
  const queue = createKeyedQueue();
  return { run: (task) => queue("image", () => runOnce(task)) };
}

function runOnce(task: ImageTask): Promise<ImageWork> {
  return new Promise((resolve, reject) => {
    const photonPath = createRequire(import.meta.url).resolve("@silvia-odwyer/photon-node");
    // The function's own text, so that it works from sources and from a bundle; `__name` is what bundlers may put into it.
    const source = `const __name = (f) => f; (${workerMain.toString()})(require);`;
    const worker = new Worker(source, { eval: true, workerData: { ...task, photonPath } satisfies WorkerInput });
    const timer = setTimeout(() => finish({ kind: "too-slow" }), TIME_LIMIT_MS);
    const finish = (work: ImageWork): void => {
      clearTimeout(timer);
      void worker.terminate();
      resolve(work);
    };
    worker.on("message", finish);
    worker.on("error", (err) => {
      clearTimeout(timer);
      reject(err);
    });
    worker.on("exit", () => finish({ kind: "undecodable" })); // it ran out of memory; no-op after an answer
  });
}

interface WorkerInput extends ImageTask {
  readonly photonPath: string;
}

/** Runs in the thread; uses nothing from outside of itself. */
function workerMain(load: NodeJS.Require): void {
  const { parentPort, workerData } = load("node:worker_threads") as typeof import("node:worker_threads");
  const { bytes, maxSidePx, maxBytes, mayStay, photonPath } = workerData as WorkerInput;
  const photon = load(photonPath) as typeof import("@silvia-odwyer/photon-node");

  const decode = (): InstanceType<typeof photon.PhotonImage> | undefined => {
    try {
      return photon.PhotonImage.new_from_byteslice(new Uint8Array(bytes));
    } catch {
      return undefined; // photon throws strings
    }
  };

  const work = (): ImageWork => {
    const image = decode();
    if (!image) return { kind: "undecodable" };
    const width = image.get_width();
    const height = image.get_height();
    const side = Math.max(width, height);
    if (mayStay && side <= maxSidePx) return { kind: "stays" };
    for (const scale of [1, 0.75, 0.5, 0.35]) {
      const factor = Math.min(1, (maxSidePx * scale) / side);
      const resized = photon.resize(image, Math.max(1, Math.round(width * factor)), Math.max(1, Math.round(height * factor)), photon.SamplingFilter.Triangle);
      for (const quality of [85, 70, 50]) {
        const jpeg = resized.get_bytes_jpeg(quality);
        if (jpeg.length <= maxBytes) return { kind: "jpeg", bytes: jpeg };
      }
      resized.free();
    }
    return { kind: "too-large" };
  };

  parentPort?.postMessage(work());
}
