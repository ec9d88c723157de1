/** Where a message was said; rules of a `scope` look at it. */
export interface MessagePlace {
  readonly channel: string;
  readonly chatType: string;
  readonly sessionKey: string;
}

/** As under `tools.media.<kind>.scope` and `tools.links.scope`. */
interface MessageScope {
  readonly default?: "allow" | "deny" | undefined;
  readonly rules?: readonly { readonly action: "allow" | "deny"; readonly match?: { readonly channel?: string | undefined; readonly chatType?: string | undefined; readonly keyPrefix?: string | undefined; readonly rawKeyPrefix?: string | undefined } | undefined }[] | undefined;
}

const asDirect = (chatType: string | undefined): string | undefined => (chatType === "dm" ? "direct" : chatType);

/** The first rule that matches decides; `keyPrefix` is compared without `agent:<id>:`. */
export function isInScope(scope: MessageScope | undefined, { channel, chatType, sessionKey }: MessagePlace): boolean {
  const rule = scope?.rules?.find(({ match = {} }) => {
    const wanted = asDirect(match.chatType);
    return (match.channel === undefined || match.channel === channel) && (wanted === undefined || wanted === asDirect(chatType)) &&
      (match.keyPrefix === undefined || sessionKey.replace(/^agent:[^:]+:/, "").startsWith(match.keyPrefix)) && (match.rawKeyPrefix === undefined || sessionKey.startsWith(match.rawKeyPrefix));
  });
  return (rule?.action ?? scope?.default ?? "allow") === "allow";
}
