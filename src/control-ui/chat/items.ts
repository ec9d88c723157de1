/** What the thread shows, made from transcripts and live events alike. */

export interface ImageRef {
  /** Where to show it from; undefined when the history left the bytes out. */
  readonly src?: string | undefined;
  readonly name?: string | undefined;
  readonly bytes?: number | undefined;
}

export interface UserItem {
  readonly kind: "user";
  readonly id: string;
  readonly text: string;
  readonly images: readonly ImageRef[];
  readonly at: number;
  readonly state: "sent" | "sending" | "failed";
  readonly runId?: string | undefined;
}

export interface AssistantItem {
  readonly kind: "assistant";
  readonly id: string;
  readonly text: string;
  readonly thinking: string;
  readonly images: readonly ImageRef[];
  readonly at: number;
  readonly stopped: boolean;
  readonly streaming: boolean;
  readonly model?: string | undefined;
}

export interface ToolItem {
  readonly kind: "tool";
  /** The tool call's id. */
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly output: string;
  readonly images: readonly ImageRef[];
  readonly state: "running" | "done" | "failed";
  readonly at: number;
  readonly durationMs?: number | undefined;
}

export interface DividerItem {
  readonly kind: "divider";
  readonly id: string;
  readonly about: "compaction" | "new-session";
  readonly detail: string;
  readonly at: number;
}

export interface ErrorItem {
  readonly kind: "error";
  readonly id: string;
  readonly message: string;
  readonly at: number;
  /** What to send again. */
  readonly retry?: UserItem | undefined;
}

export type Item = UserItem | AssistantItem | ToolItem | DividerItem | ErrorItem;

const MAX_OUTPUT_CHARS = 120_000;

export const cutOutput = (text: string): string => (text.length > MAX_OUTPUT_CHARS ? `${text.slice(0, MAX_OUTPUT_CHARS)}\n…` : text);
