import type { ChannelPairingStore } from "../../pairing/index.ts";
import { normalizeAccountId } from "../../routing/index.ts";

/** What a stranger is told. Source: spec channels §2.3. */
export function createPairingReply({ channel, idLine, code }: { readonly channel: string; readonly idLine: string; readonly code: string }): string {
  return ["OpenClaw: access not configured.", idLine, `Pairing code: ${code}`, "Ask the bot owner to approve with:", `openclaw pairing approve ${channel} ${code}`].join("\n\n");
}

export interface PairingRequestInput {
  readonly channel: string;
  readonly id: string | number;
  readonly accountId?: string | undefined;
  readonly meta?: Readonly<Record<string, string | null | undefined>> | undefined;
  readonly pairingAdapter?: { readonly normalizeAllowEntry?: ((entry: string) => string) | undefined } | undefined;
}

export function createPairingAccess(store: ChannelPairingStore) {
  return {
    buildPairingReply: createPairingReply,
    /** Takes `(channel, env?, accountId?)` as well as `{channel, accountId}`. */
    async readAllowFromStore(query: string | { readonly channel: string; readonly accountId?: string | undefined }, _env?: unknown, accountId?: string): Promise<string[]> {
      const place = typeof query === "string" ? { channel: query, accountId } : query;
      return [...store.allowFrom(place.channel, normalizeAccountId(place.accountId))];
    },
    /** `created: false` and no code: too many strangers wait already. */
    async upsertPairingRequest(input: PairingRequestInput): Promise<{ code: string; created: boolean }> {
      const raw = String(input.id).trim();
      const id = input.pairingAdapter?.normalizeAllowEntry?.(raw) ?? raw;
      const meta = Object.fromEntries(Object.entries(input.meta ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
      const outcome = await store.request({ channel: input.channel, accountId: normalizeAccountId(input.accountId) }, { id, meta });
      return outcome.kind === "full" ? { code: "", created: false } : { code: outcome.code, created: outcome.kind === "created" };
    },
  };
}
