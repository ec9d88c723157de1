import type { OpenClawConfig } from "../../config/index.ts";
import type { CapabilitySettings, MediaCandidate, MediaCapability, MediaModelSettings } from "./types.ts";

interface Limits {
  readonly maxBytes: number;
  readonly maxChars: number | undefined;
  readonly timeoutSec: number;
  readonly prompt: string;
}

/** Source: spec tools-and-automation-part2 §10. */
const LIMITS: Readonly<Record<MediaCapability, Limits>> = {
  image: { maxBytes: 10 * 1024 * 1024, maxChars: 500, timeoutSec: 60, prompt: "Describe this image in a few sentences: what it shows, and any text in it." },
  audio: { maxBytes: 20 * 1024 * 1024, maxChars: undefined, timeoutSec: 60, prompt: "Write down what is said, word for word, and nothing else." },
  video: { maxBytes: 50 * 1024 * 1024, maxChars: 500, timeoutSec: 120, prompt: "Describe what this video shows and what is said in it." },
};

/** Asked in this order when nothing is configured; the model is the provider's usual one for the purpose. */
export const AUTO_MODELS: Readonly<Record<MediaCapability, Readonly<Record<string, string>>>> = {
  image: { openai: "gpt-5-mini", anthropic: "claude-opus-4-6", google: "gemini-3-flash-preview", minimax: "MiniMax-VL-01", zai: "glm-4.6v" },
  audio: { openai: "gpt-4o-mini-transcribe", groq: "whisper-large-v3-turbo", deepgram: "nova-3", google: "gemini-3-flash-preview", mistral: "voxtral-mini-latest" },
  video: { google: "gemini-3-flash-preview" },
};

/** Programs that write down speech, if they are installed. */
export const LOCAL_SPEECH: readonly { readonly command: string; readonly args: readonly string[] }[] = [
  { command: "sherpa-onnx-offline", args: ["{{MediaPath}}"] },
  { command: "whisper-cli", args: ["-nt", "-np", "-f", "{{MediaPath}}"] },
  { command: "whisper", args: ["{{MediaPath}}", "--output_format", "txt", "--output_dir", "{{OutputDir}}", "--verbose", "False"] },
];

export const settingsOf = (cfg: OpenClawConfig, capability: MediaCapability): CapabilitySettings | undefined => cfg.tools?.media?.[capability];

/** What the configuration names; undefined when it names nothing. */
export function configuredCandidates(cfg: OpenClawConfig, capability: MediaCapability): MediaCandidate[] | undefined {
  const settings = settingsOf(cfg, capability);
  const shared = (cfg.tools?.media?.models ?? []).filter(({ capabilities }) => capabilities?.includes(capability));
  const own = (settings?.models ?? []).filter(({ capabilities }) => capabilities === undefined || capabilities.includes(capability));
  const listed = [...own, ...shared];
  if (listed.length > 0) return listed.map((model) => toCandidate(capability, settings, model));
  const { transcription } = cfg.audio ?? {};
  if (capability !== "audio" || !transcription) return undefined;
  const [command = "", ...args] = transcription.command ?? [];
  const timeoutSeconds = transcription.timeoutSeconds;
  return [toCandidate(capability, settings, { type: "cli", command, args, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) })];
}

/** A model's own settings over those of its capability over the usual ones. */
export function toCandidate(capability: MediaCapability, settings: CapabilitySettings | undefined, model: MediaModelSettings): MediaCandidate {
  const usual = LIMITS[capability];
  const provider = model.provider ?? "";
  const language = model.language ?? settings?.language;
  const deepgram = { ...settings?.deepgram, ...model.deepgram };
  return {
    kind: model.type ?? (model.command === undefined ? "provider" : "cli"), provider, model: model.model ?? AUTO_MODELS[capability][provider] ?? "", command: model.command ?? "", args: model.args ?? [],
    prompt: model.prompt ?? settings?.prompt ?? usual.prompt, maxChars: model.maxChars ?? settings?.maxChars ?? usual.maxChars, maxBytes: model.maxBytes ?? settings?.maxBytes ?? usual.maxBytes,
    timeoutMs: (model.timeoutSeconds ?? settings?.timeoutSeconds ?? usual.timeoutSec) * 1000, language, baseUrl: model.baseUrl ?? settings?.baseUrl, headers: { ...settings?.headers, ...model.headers },
    query: {
      ...(provider === "deepgram" ? { detect_language: deepgram.detectLanguage ?? language === undefined, punctuate: deepgram.punctuate ?? true, smart_format: deepgram.smartFormat ?? true } : {}),
      ...settings?.providerOptions?.[provider], ...model.providerOptions?.[provider],
    },
    profile: model.profile ?? model.preferredProfile,
  };
}

/** Which attachments are looked at. Source: `attachments`; the first one unless it says more. */
export function chooseAttachments<T extends { readonly path: string }>(settings: CapabilitySettings | undefined, files: readonly T[]): T[] {
  const { mode = "first", maxAttachments = 1, prefer = "first" } = settings?.attachments ?? {};
  const ordered = prefer === "last" ? files.toReversed() : files;
  return ordered.slice(0, mode === "all" ? Math.max(1, maxAttachments) : 1);
}
