import { normalizeAccountId } from "../../routing/index.ts";

/** When a channel's account last heard and said something, for its status. Source: spec plugin-sdk §13. */
export interface ActivityMark {
  readonly channel: string;
  readonly accountId?: string | null | undefined;
  readonly direction: "inbound" | "outbound";
  /** ms; default now. */
  readonly at?: number | undefined;
}

export interface ChannelActivity {
  record(mark: ActivityMark): void;
  get(place: { readonly channel: string; readonly accountId?: string | null | undefined }): { inboundAt: number | null; outboundAt: number | null };
}

export function createChannelActivity(now: () => number, onRecord?: (mark: Required<ActivityMark>) => void): ChannelActivity {
  const known = new Map<string, { inboundAt: number | null; outboundAt: number | null }>();
  const keyOf = (channel: string, accountId: string | null | undefined): string => `${channel}:${normalizeAccountId(accountId)}`;
  return {
    record({ channel, accountId, direction, at = now() }) {
      const key = keyOf(channel, accountId);
      const entry = known.get(key) ?? { inboundAt: null, outboundAt: null };
      entry[direction === "inbound" ? "inboundAt" : "outboundAt"] = at;
      known.set(key, entry);
      onRecord?.({ channel, accountId: normalizeAccountId(accountId), direction, at });
    },
    get: ({ channel, accountId }) => ({ inboundAt: null, outboundAt: null, ...known.get(keyOf(channel, accountId)) }),
  };
}
