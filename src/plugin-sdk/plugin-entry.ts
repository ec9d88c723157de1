import type { OpenClawConfig } from "../config/index.ts";
import { createPairingReply } from "../plugins/runtime/helpers/index.ts";
import { normalizeAccountId } from "../routing/index.ts";

/** Helpers of plugins that came after the reference's release. Source: spec plugin-sdk-survey §1 (LATER). */

/** The definition itself; it gives editors the types. */
export const definePluginEntry = <T>(definition: T): T => definition;

export interface PluginRuntimeStore<T> {
  setRuntime(next: T): void;
  /** @throws Error `message` before `setRuntime` */
  getRuntime(): T;
  tryGetRuntime(): T | null;
  clearRuntime(): void;
}

/** Where a plugin keeps the `api.runtime` that `register` was given. */
export function createPluginRuntimeStore<T>(message: string): PluginRuntimeStore<T> {
  let runtime: T | null = null;
  return {
    setRuntime: (next) => void (runtime = next),
    getRuntime() {
      if (runtime === null) throw new Error(message);
      return runtime;
    },
    tryGetRuntime: () => runtime,
    clearRuntime: () => void (runtime = null),
  };
}

export interface PairingChallenge {
  readonly channel: string;
  readonly senderId: string;
  readonly senderIdLine: string;
  readonly meta?: Readonly<Record<string, string | undefined>> | undefined;
  readonly upsertPairingRequest: (request: { id: string; meta?: Readonly<Record<string, string | undefined>> | undefined }) => Promise<{ code: string; created: boolean }>;
  readonly sendPairingReply: (text: string) => Promise<void>;
  readonly buildReplyText?: ((parts: { code: string; senderIdLine: string }) => string) | undefined;
  readonly onCreated?: ((created: { code: string }) => void) | undefined;
  readonly onReplyError?: ((err: unknown) => void) | undefined;
}

/** Makes a request for a stranger and tells the code, once. */
export async function issuePairingChallenge(challenge: PairingChallenge): Promise<{ created: boolean; code?: string | undefined }> {
  const { code, created } = await challenge.upsertPairingRequest({ id: challenge.senderId, ...(challenge.meta ? { meta: challenge.meta } : {}) });
  if (!created) return { created: false };
  challenge.onCreated?.({ code });
  const text = challenge.buildReplyText?.({ code, senderIdLine: challenge.senderIdLine }) ?? createPairingReply({ channel: challenge.channel, idLine: challenge.senderIdLine, code });
  try {
    await challenge.sendPairingReply(text);
  } catch (err) {
    challenge.onReplyError?.(err);
  }
  return { created: true, code };
}

interface PairingRuntime {
  readonly channel: {
    readonly pairing: {
      readAllowFromStore(query: { channel: string; accountId: string }): Promise<string[]>;
      upsertPairingRequest(request: { channel: string; accountId: string; id: string; meta?: Readonly<Record<string, string | undefined>> | undefined }): Promise<{ code: string; created: boolean }>;
    };
  };
}

/** The pairing store as one account sees it. */
export function createScopedPairingAccess({ core, channel, accountId }: { readonly core: PairingRuntime; readonly channel: string; readonly accountId: string }) {
  const id = normalizeAccountId(accountId);
  return {
    accountId: id,
    readAllowFromStore: (): Promise<string[]> => core.channel.pairing.readAllowFromStore({ channel, accountId: id }),
    readStoreForDmPolicy: (provider: string, account: string): Promise<string[]> => core.channel.pairing.readAllowFromStore({ channel: provider, accountId: normalizeAccountId(account) }),
    upsertPairingRequest: (request: { id: string; meta?: Readonly<Record<string, string | undefined>> | undefined }): Promise<{ code: string; created: boolean }> =>
      core.channel.pairing.upsertPairingRequest({ channel, accountId: id, ...request }),
  };
}

/** `diagnostics.enabled`. */
export const isDiagnosticsEnabled = (cfg?: OpenClawConfig): boolean => cfg?.diagnostics?.enabled === true;
