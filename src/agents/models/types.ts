import type { Api, AssistantMessageEventStream, Context, Model, SimpleStreamOptions } from "@mariozechner/pi-ai";
import type { AuthProfile } from "../auth-profiles/index.ts";

export interface ModelRef {
  readonly provider: string;
  /** Keeps its case. */
  readonly modelId: string;
}

export function formatModelRef(ref: ModelRef): string {
  return `${ref.provider}/${ref.modelId}`;
}

export type AuthMode = "api-key" | "oauth" | "token" | "aws-sdk" | "none";

/** What a provider is asked with. */
export interface Credential {
  readonly authMode: AuthMode;
  readonly apiKey: string | undefined;
}

export type ModelSource = "session" | "agent" | "defaults" | "providers" | "environment" | "profile" | "localhost" | "offline";

export interface ModelChoice {
  readonly ref: ModelRef;
  readonly source: ModelSource;
  /** One sentence for status: why this model. */
  readonly reason: string;
}

/** Everything one attempt needs to call a model. */
export interface PreparedModel {
  readonly ref: ModelRef;
  readonly model: Model<Api>;
  /** Window in tokens after `agents.defaults.contextTokens`. */
  readonly contextTokens: number;
  readonly authMode: AuthMode;
  readonly profileId: string | undefined;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Replaces pi-ai's transport (offline guide, Ollama's own API). */
  readonly stream?: ((model: Model<Api>, context: Context, options?: SimpleStreamOptions) => AssistantMessageEventStream) | undefined;
  /** Parameters from `agents.defaults.models.<ref>.params`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** false: the catalogue has no price, so cost is unknown, never zero. */
  readonly priced: boolean;
}

/** Source: spec agent-pipeline §5.7. */
export type FailoverReason =
  | "auth" | "auth_permanent" | "billing" | "rate_limit" | "timeout" | "format" | "model_not_found" | "context_overflow" | "unknown";

export interface ModelRow {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly contextWindow?: number | undefined;
  readonly reasoning?: boolean | undefined;
  readonly input?: readonly ("text" | "image")[] | undefined;
  /** A key, profile or loopback server is there. */
  readonly available: boolean;
}

export type RefParse =
  | { readonly ok: true; readonly ref: ModelRef; readonly profileId?: string | undefined; readonly alias?: string | undefined }
  | { readonly ok: false; readonly error: string; readonly suggestions: readonly string[] };

/** From none to most. */
export const THINK_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
export type ThinkLevel = (typeof THINK_LEVELS)[number];

export interface PrepareOptions {
  /** Chosen by a person: no other profile is tried. */
  readonly profileId?: string | undefined;
  /** Used while it does not rest. */
  readonly preferredProfileId?: string | undefined;
  /** The one that follows it comes first: sessions take turns. */
  readonly afterProfileId?: string | undefined;
  /** Not the run's first choice: rejects with `unavailable` while all profiles of the provider rest. */
  readonly asFallback?: boolean | undefined;
}

export interface ModelService {
  /** The model of an agent when the session names none: config, providers, environment, localhost, offline guide. */
  selectDefault(agentId: string): Promise<ModelChoice>;
  /** Aliases, bare ids, provider synonyms; `…@profile` pins a profile. */
  parseRef(text: string, agentId: string): Promise<RefParse>;
  isAllowed(ref: ModelRef, agentId: string): Promise<boolean>;
  /** Candidates after `selected`, in order. */
  fallbacks(agentId: string, selected: ModelRef): Promise<ModelRef[]>;
  /** @throws ModelError (unknown model, no usable key) */
  prepare(ref: ModelRef, agentId: string, options?: PrepareOptions): Promise<PreparedModel>;
  /** A provider's key for services that are no chat model (speech, say); undefined when there is none. */
  apiKey(provider: string, agentId: string, profileId?: string): Promise<string | undefined>;
  /** The same with how it was got. */
  credential(provider: string, agentId: string, profileId?: string): Promise<Credential | undefined>;
  /** Further usable profiles of the same provider, after `failed`. */
  nextProfile(prepared: PreparedModel, agentId: string, tried: ReadonlySet<string>): Promise<string | undefined>;
  /** Keeps a login, in place of one of the same id. @throws when the file of logins is damaged or locked */
  saveProfile(agentId: string, profileId: string, profile: AuthProfile): Promise<void>;
  reportSuccess(prepared: PreparedModel, agentId: string): Promise<void>;
  reportFailure(prepared: PreparedModel, agentId: string, reason: FailoverReason): Promise<void>;
  /** ms that the provider still asked to be left alone when it last refused; undefined when it did not say. */
  askedToWaitMs(prepared: PreparedModel): number | undefined;
  /** Allowed set, or the whole catalogue. */
  list(agentId?: string): Promise<ModelRow[]>;
  aliases(agentId: string): ReadonlyMap<string, ModelRef>;
  thinkingLevels(ref: ModelRef, agentId: string): Promise<ThinkLevel[]>;
  defaultThinking(ref: ModelRef, agentId: string): Promise<ThinkLevel>;
  /** Starts background probes of localhost servers; stops with `close`. */
  startProbes(): void;
  /** Call when `models` of the configuration changed: servers named there are asked at once which models they have. */
  lookAgain(): void;
  close(): void;
}

export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly code: "unknown-model" | "no-key" | "not-allowed" | "window-too-small" | "unavailable";
  readonly fix: string;
  constructor(code: ModelError["code"], message: string, fix: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.fix = fix;
  }
}
