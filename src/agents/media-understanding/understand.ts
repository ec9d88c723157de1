import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { OpenClawConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import { truncateText } from "../../infra/text/index.ts";
import { isInScope, type MessagePlace } from "../message-scope.ts";
import type { ModelRef, ModelService } from "../models/types.ts";
import { loadPi } from "../pi.ts";
import { askAboutImages, toImageContent } from "../tools/media/ask-about-images.ts";
import { AUTO_MODELS, chooseAttachments, configuredCandidates, LOCAL_SPEECH, settingsOf, toCandidate } from "./candidates.ts";
import { isInstalled, runMediaCommand } from "./command.ts";
import { fileBlock, isPdf, isTextFile, MAX_FILE_BYTES } from "./files.ts";
import { transcribe } from "./transcribe.ts";
import type { MediaCandidate, MediaCapability, MediaDecision, MediaOutcome, ReceivedFile } from "./types.ts";

/** Files of a message, put into words. */
export interface UnderstoodMedia {
  readonly outcomes: readonly MediaOutcome[];
  /** One for each kind of attachment that came. */
  readonly decisions: readonly MediaDecision[];
  /** Text files and PDFs as blocks. */
  readonly fileBlocks: readonly string[];
  /** Attachments that need no note any more: their words are there. */
  readonly replaced: ReadonlySet<number>;
  /** What was said, all recordings together. */
  readonly transcript: string | undefined;
}

export interface MediaUnderstandingDeps {
  readonly config: () => OpenClawConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly models: ModelService;
  readonly fetch?: typeof fetch | undefined;
  readonly log: Logger;
}

export interface MediaUnderstanding {
  /** Never rejects: a file that nobody can read stays a file. `model` is the one that will answer. */
  understand(files: readonly ReceivedFile[], place: MessagePlace, run: { readonly agentId: string; readonly model: ModelRef; readonly signal: AbortSignal }): Promise<UnderstoodMedia>;
}

const NOTHING: UnderstoodMedia = { outcomes: [], decisions: [], fileBlocks: [], replaced: new Set(), transcript: undefined };
const DEFAULT_IMAGE_SIDE_PX = 1200;

/** Speech becomes text, pictures are described for a model that cannot see, text files are read. Source: spec tools-and-automation-part2 §10. */
export function createMediaUnderstanding(deps: MediaUnderstandingDeps): MediaUnderstanding {
  const { config, log, models } = deps;
  const fetchFn: typeof fetch = deps.fetch ?? ((input, init) => fetch(input, init));

  type Run = Parameters<MediaUnderstanding["understand"]>[2];
  interface Item extends ReceivedFile { readonly index: number }

  async function understand(files: readonly ReceivedFile[], place: MessagePlace, run: Run): Promise<UnderstoodMedia> {
    if (files.length === 0) return NOTHING;
    const cfg = config();
    const items = files.map((file, index): Item => ({ ...file, index }));
    const of = (family: MediaCapability): Item[] => items.filter(({ mimeType }) => mimeType.startsWith(`${family}/`));
    const work: (() => Promise<MediaOutcome | undefined>)[] = [];
    const planned: { readonly capability: MediaCapability; readonly passedOver: MediaDecision["outcome"] | undefined }[] = [];
    for (const capability of ["audio", "image", "video"] as const) {
      const found = of(capability);
      if (found.length === 0) continue;
      const plan = await planFor(capability, place, run);
      planned.push({ capability, passedOver: typeof plan === "string" ? plan : undefined });
      if (typeof plan !== "string") for (const item of chooseAttachments(settingsOf(cfg, capability), found)) work.push(() => oneOf(capability, item, plan, run));
    }
    const outcomes = (await inParallel(work, cfg.tools?.media?.concurrency ?? 2)).filter((outcome) => outcome !== undefined);
    const decisions = planned.map(({ capability, passedOver }): MediaDecision => {
      const by = outcomes.find((outcome) => outcome.capability === capability)?.by;
      return { capability, outcome: passedOver ?? (by === undefined ? "failed" : "success"), ...(by !== undefined && { by }) };
    });
    const blocks = await Promise.all(items.filter((item) => isPdf(item) || isTextFile(item)).map((item) => readBlock(item, run.signal)));
    const said = outcomes.filter(({ capability }) => capability === "audio").map(({ text }) => text);
    return {
      outcomes, decisions, fileBlocks: blocks.flatMap((block) => block ?? []), replaced: new Set(outcomes.filter(({ capability }) => capability === "audio").map(({ index }) => index)),
      transcript: said.length > 0 ? said.join("\n") : undefined,
    };
  }

  /** Who is asked, or why nobody is. */
  async function planFor(capability: MediaCapability, place: MessagePlace, run: Run): Promise<readonly MediaCandidate[] | "disabled" | "scope-deny" | "skipped"> {
    const cfg = config();
    const settings = settingsOf(cfg, capability);
    if (settings?.enabled === false) return "disabled";
    if (!isInScope(settings?.scope, place)) return "scope-deny";
    if (capability === "image" && (await canSee(run))) return "skipped";
    const candidates = configuredCandidates(cfg, capability) ?? (await autoCandidates(capability, run));
    return candidates.length > 0 ? candidates : "skipped";
  }

  async function canSee({ model, agentId }: Run): Promise<boolean> {
    const rows = await models.prepare(model, agentId).catch(() => undefined); // no key: said by the run itself
    return rows?.model.input.includes("image") ?? true;
  }

  /** The provider that answers anyway, what is installed here, the model for images, then whoever there is a key for. */
  async function autoCandidates(capability: MediaCapability, run: Run): Promise<MediaCandidate[]> {
    const cfg = config();
    const settings = settingsOf(cfg, capability);
    const usual = AUTO_MODELS[capability];
    const make = (model: Parameters<typeof toCandidate>[2]): MediaCandidate => toCandidate(capability, settings, model);
    const found: MediaCandidate[] = [];
    const active = run.model.provider;
    const isUsable = async (provider: string): Promise<boolean> => (await models.apiKey(provider, run.agentId).catch(() => undefined)) !== undefined;
    if (usual[active] !== undefined && (await isUsable(active))) found.push(make({ provider: active }));
    if (capability === "audio") for (const local of LOCAL_SPEECH) if (await isInstalled(local.command, deps.env["PATH"])) found.push(make({ type: "cli", ...local }));
    if (capability === "image") {
      const configured = cfg.agents?.defaults?.imageModel;
      const listed = typeof configured === "string" ? [configured] : [configured?.primary, ...(configured?.fallbacks ?? [])];
      for (const name of listed) if (name) found.push(make({ provider: name.slice(0, name.indexOf("/")), model: name.slice(name.indexOf("/") + 1) }));
    }
    for (const provider of Object.keys(usual)) if (provider !== active && (await isUsable(provider))) found.push(make({ provider }));
    return found;
  }

  async function oneOf(capability: MediaCapability, item: Item, candidates: readonly MediaCandidate[], run: Run): Promise<MediaOutcome | undefined> {
    const { size } = await stat(item.path).catch(() => ({ size: 0 }));
    for (const candidate of candidates) {
      const by = candidate.kind === "cli" ? basename(candidate.command) : `${candidate.provider}/${candidate.model}`;
      try {
        if (size > candidate.maxBytes) throw new Error(`the file has ${size} bytes, at most ${candidate.maxBytes} are sent`);
        const signal = AbortSignal.any([run.signal, AbortSignal.timeout(candidate.timeoutMs)]);
        const text = await ask(capability, item, candidate, run.agentId, signal);
        return { capability, index: item.index, by, text: candidate.maxChars === undefined ? text : truncateText(text, candidate.maxChars) };
      } catch (err) {
        if (run.signal.aborted) return undefined;
        log.warn("an attachment was not put into words", { capability, by, reason: errorText(err) });
      }
    }
    return undefined;
  }

  async function ask(capability: MediaCapability, item: Item, candidate: MediaCandidate, agentId: string, signal: AbortSignal): Promise<string> {
    if (candidate.kind === "cli") return runMediaCommand(candidate, item, signal);
    if (capability === "image") {
      const prepared = await models.prepare({ provider: candidate.provider, modelId: candidate.model }, agentId, candidate.profile === undefined ? {} : { profileId: candidate.profile });
      const image = await toImageContent(await readFile(item.path), config().agents?.defaults?.imageMaxDimensionPx ?? DEFAULT_IMAGE_SIDE_PX);
      return askAboutImages((await loadPi()).ai, prepared, candidate.prompt, [image], signal);
    }
    const apiKey = await models.apiKey(candidate.provider, agentId, candidate.profile);
    if (apiKey === undefined) throw new Error(`no key for ${candidate.provider}`);
    const bytes = new Uint8Array(await readFile(item.path));
    return transcribe({ candidate, bytes, mimeType: item.mimeType, fileName: item.fileName ?? basename(item.path), apiKey, fetch: fetchFn, signal });
  }

  async function readBlock(item: Item, signal: AbortSignal): Promise<string | undefined> {
    try {
      if ((await stat(item.path)).size > MAX_FILE_BYTES) return undefined;
      return await fileBlock(item, await readFile(item.path), signal);
    } catch (err) {
      log.warn("an attached file was not read", { file: item.fileName ?? basename(item.path), reason: errorText(err) });
      return undefined;
    }
  }

  return { understand };
}

async function inParallel<T>(work: readonly (() => Promise<T>)[], width: number): Promise<T[]> {
  const results: T[] = [];
  const queue = [...work.entries()];
  await Promise.all(Array.from({ length: Math.max(1, width) }, async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await next[1]();
  }));
  return results;
}
