import type { ResolvedTarget } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";

/** The parts that we read of a channel in the shape of spec plugin-sdk §12; everything else is passed over. */
export interface ForeignChannel {
  readonly id: string;
  readonly meta?: Partial<Record<"label" | "selectionLabel" | "docsPath" | "blurb" | "detailLabel" | "systemImage", string>> & { readonly order?: number; readonly aliases?: readonly string[] };
  readonly capabilities?: { readonly chatTypes?: readonly string[] } & Partial<Record<"polls" | "reactions" | "edit" | "reply" | "threads" | "media" | "nativeCommands" | "blockStreaming", boolean>>;
  readonly defaults?: { readonly queue?: { readonly debounceMs?: number } };
  readonly reload?: { readonly configPrefixes?: readonly string[]; readonly noopPrefixes?: readonly string[] };
  readonly config?: {
    listAccountIds?(cfg: OpenClawConfig): readonly string[];
    resolveAccount?(cfg: OpenClawConfig, accountId?: string): unknown;
    defaultAccountId?(cfg: OpenClawConfig): string;
    isEnabled?(account: unknown, cfg: OpenClawConfig): boolean;
    disabledReason?(account: unknown, cfg: OpenClawConfig): string;
    isConfigured?(account: unknown, cfg: OpenClawConfig): boolean | Promise<boolean>;
    unconfiguredReason?(account: unknown, cfg: OpenClawConfig): string;
    describeAccount?(account: unknown, cfg: OpenClawConfig): object;
    resolveAllowFrom?(params: { readonly cfg: OpenClawConfig; readonly accountId: string }): readonly unknown[] | undefined;
    resolveDefaultTo?(params: { readonly cfg: OpenClawConfig; readonly accountId: string }): string | undefined;
  };
  readonly setup?: {
    applyAccountConfig?(params: { readonly cfg: OpenClawConfig; readonly accountId: string; readonly input: object }): object;
    validateInput?(params: { readonly cfg: OpenClawConfig; readonly accountId: string; readonly input: object }): string | null | undefined;
  };
  readonly pairing?: { readonly idLabel?: string; normalizeAllowEntry?(entry: string): string };
  readonly security?: {
    resolveDmPolicy?(params: { readonly cfg: OpenClawConfig; readonly accountId: string; readonly account: unknown }): { readonly policy?: string; readonly allowFrom?: readonly unknown[] | null; normalizeEntry?(entry: string): string } | null | undefined;
    collectWarnings?(params: { readonly cfg: OpenClawConfig; readonly accountId: string; readonly account: unknown }): readonly string[] | Promise<readonly string[]>;
  };
  readonly groups?: {
    resolveRequireMention?(params: object): boolean | undefined;
    resolveToolPolicy?(params: object): { readonly allow?: readonly string[]; readonly alsoAllow?: readonly string[]; readonly deny?: readonly string[] } | undefined;
  };
  readonly outbound?: {
    readonly deliveryMode?: string;
    chunker?: ((text: string, limit: number) => readonly string[]) | null;
    readonly textChunkLimit?: number;
    resolveTarget?(params: object): { readonly ok: boolean; readonly to?: string; readonly error?: unknown };
    sendPayload?(ctx: object): unknown;
    sendText?(ctx: object): unknown;
    sendMedia?(ctx: object): unknown;
    sendPoll?(ctx: object): unknown;
  };
  readonly streaming?: { readonly blockStreamingCoalesceDefaults?: { readonly minChars: number; readonly idleMs: number } };
  readonly threading?: { resolveReplyToMode?(params: object): string; readonly allowExplicitReplyTagsWhenOff?: boolean };
  readonly messaging?: { normalizeTarget?(raw: string): string | undefined; readonly targetResolver?: { readonly hint?: string } };
  readonly resolver?: { resolveTargets?(params: object): Promise<readonly ResolvedTarget[]> | readonly ResolvedTarget[] };
  readonly actions?: { listActions?(params: { readonly cfg: OpenClawConfig }): readonly string[]; handleAction?(ctx: object): unknown };
  readonly mentions?: { stripMentions?(params: object): string };
  readonly agentPrompt?: { messageToolHints?(params: { readonly cfg: OpenClawConfig }): readonly string[] };
  readonly agentTools?: readonly unknown[] | ((params: { readonly cfg: OpenClawConfig }) => readonly unknown[]);
  readonly commands?: { readonly enforceOwnerForCommands?: boolean };
  readonly status?: {
    probeAccount?(params: { readonly account: unknown; readonly timeoutMs: number; readonly cfg: OpenClawConfig }): unknown;
    collectStatusIssues?(accounts: readonly object[]): readonly { readonly channel: string; readonly accountId: string; readonly kind: string; readonly message: string; readonly fix?: string }[];
  };
  readonly gateway?: {
    startAccount?(ctx: object): unknown;
    stopAccount?(ctx: object): unknown;
    logoutAccount?(ctx: object): unknown;
  };
}
