import type { ImageContent } from "@mariozechner/pi-ai";
import { Type } from "typebox";
import { errorText } from "../../../infra/errors.ts";
import { formatModelRef, type ModelRef, type ModelService } from "../../models/types.ts";
import type { PiModules } from "../../pi.ts";
import { optionalNumber, optionalString } from "../arguments.ts";
import { toolText, type AgentTool } from "../contract.ts";
import { askAboutImages, toImageContent } from "./ask-about-images.ts";
import { loadSource, type SourceLoader } from "./load-source.ts";

export interface ImageToolOptions extends SourceLoader {
  readonly agentId: string;
  readonly models: ModelService;
  readonly pi: () => Promise<PiModules>;
  /** In the order of trying: `agents.defaults.imageModel`, or what goes with the chosen provider. */
  readonly candidates: readonly string[];
  readonly maxSidePx: number;
}

const DEFAULT_PROMPT = "Describe the image.";
const MAX_IMAGES = 20;
const MAX_BYTES = 20 * 1024 * 1024;

const PARAMETERS = Type.Object({
  prompt: Type.Optional(Type.String()), image: Type.Optional(Type.String()), images: Type.Optional(Type.Array(Type.String())), model: Type.Optional(Type.String()),
  maxBytesMb: Type.Optional(Type.Number()), maxImages: Type.Optional(Type.Number()),
});

/** Looks at pictures with a model that can, for one that cannot. Source: spec tools-and-automation §1.6. */
export function createImageTool(options: ImageToolOptions): AgentTool {
  return {
    name: "image",
    label: "Image",
    summary: "Have pictures looked at by a model that can see",
    description: "Ask a model that can see about one or more pictures: files, http(s) URLs or data: URLs.",
    parameters: PARAMETERS,
    describe: (args) => sourcesOf(args).map((source) => (source.startsWith("data:") ? "data:…" : source)).join(", "),
    async execute(args, { signal }) {
      const sources = sourcesOf(args);
      const limit = Math.min(MAX_IMAGES, Math.max(1, Math.trunc(optionalNumber(args, "maxImages") ?? MAX_IMAGES)));
      if (sources.length === 0) throw new Error("Missing required parameter: image (image or images). Supply correct parameters before retrying.");
      if (sources.length > limit) throw new Error(`too_many_images: ${sources.length} pictures; at most ${limit} are possible.`);
      const maxBytes = Math.min(MAX_BYTES, Math.max(1, optionalNumber(args, "maxBytesMb") ?? Infinity) * 1024 * 1024);
      const images = await Promise.all(sources.map((source) => load(options, source, maxBytes, signal)));
      const wanted = optionalString(args, "model");
      return look(options, wanted === undefined ? options.candidates : [wanted], optionalString(args, "prompt") ?? DEFAULT_PROMPT, images, sources, signal);
    },
  };
}

function sourcesOf(args: Record<string, unknown>): string[] {
  const list = Array.isArray(args["images"]) ? args["images"].filter((item): item is string => typeof item === "string") : [];
  const one = optionalString(args, "image");
  return [...new Set([...(one === undefined ? [] : [one]), ...list].map((source) => source.trim().replace(/^@/, "")).filter((source) => source !== ""))];
}

async function load(options: ImageToolOptions, source: string, maxBytes: number, signal: AbortSignal): Promise<ImageContent> {
  const bytes = Buffer.from(await loadSource(options, source, maxBytes, signal));
  return toImageContent(bytes, options.maxSidePx).catch((err: unknown) => {
    throw new Error(`unsupported_image_reference: ${source.slice(0, 200)}: ${errorText(err)}`, { cause: err });
  });
}

async function look(options: ImageToolOptions, candidates: readonly string[], prompt: string, images: readonly ImageContent[], sources: readonly string[], signal: AbortSignal): ReturnType<AgentTool["execute"]> {
  const attempts: { provider: string; model: string; error: string }[] = [];
  const { ai } = await options.pi();
  for (const candidate of candidates) {
    const parsed = await options.models.parseRef(candidate, options.agentId);
    if (!parsed.ok) {
      attempts.push({ provider: "", model: candidate, error: parsed.error });
      continue;
    }
    const { ref } = parsed;
    try {
      const prepared = await options.models.prepare(ref, options.agentId, { asFallback: attempts.length > 0 });
      if (!prepared.model.input.includes("image")) throw new Error(`${formatModelRef(ref)} cannot see pictures`);
      const text = await askAboutImages(ai, prepared, prompt, images, signal);
      return toolText(text, { model: formatModelRef(ref), ...(sources.length === 1 ? { image: sources[0] } : { images: sources }), attempts });
    } catch (err) {
      if (signal.aborted) throw err;
      attempts.push({ ...toAttempt(ref), error: errorText(err) });
    }
  }
  throw new Error(`No model could look at the picture. ${attempts.map((attempt) => `${attempt.provider ? `${attempt.provider}/` : ""}${attempt.model}: ${attempt.error}`).join(" | ")} Set agents.defaults.imageModel.`);
}

const toAttempt = (ref: ModelRef): { provider: string; model: string } => ({ provider: ref.provider, model: ref.modelId });
