import type { OpenClawConfig } from "../../config/index.ts";

export type MediaCapability = "image" | "audio" | "video";

type MediaTools = NonNullable<NonNullable<OpenClawConfig["tools"]>["media"]>;
export type CapabilitySettings = NonNullable<MediaTools["audio"]>;
export type MediaModelSettings = NonNullable<MediaTools["models"]>[number];

/** A file that came with a message. */
export interface ReceivedFile {
  readonly path: string;
  readonly mimeType: string;
  readonly fileName?: string | undefined;
}

/** Who turns a file into words, with all settings that count for it. */
export interface MediaCandidate {
  readonly kind: "provider" | "cli";
  readonly provider: string;
  readonly model: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly prompt: string;
  readonly maxChars: number | undefined;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly language: string | undefined;
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | number | boolean>>;
  readonly profile: string | undefined;
}

/** What became of one attachment. */
export interface MediaOutcome {
  readonly capability: MediaCapability;
  readonly index: number;
  readonly text: string;
  readonly by: string;
}

/** What was decided about the attachments of one kind. */
export interface MediaDecision {
  readonly capability: MediaCapability;
  /** `skipped`: the model sees pictures itself, or nobody here can do it. */
  readonly outcome: "success" | "failed" | "skipped" | "disabled" | "scope-deny";
  readonly by?: string | undefined;
}
