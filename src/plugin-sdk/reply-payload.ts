import { asFields, textOf } from "../plugins/runtime/helpers/index.ts";

/** Replies on their way out of a channel plugin. Source: spec plugin-sdk §14. */

export interface OutboundReplyPayload {
  text?: string | undefined;
  mediaUrls?: string[] | undefined;
  mediaUrl?: string | undefined;
  replyToId?: string | undefined;
}

/** Only the fields of a reply that every channel understands. */
export function normalizeOutboundReplyPayload(payload: unknown): OutboundReplyPayload {
  const raw = asFields(payload);
  const string = (key: string): string | undefined => (typeof raw[key] === "string" ? raw[key] : undefined);
  const mediaUrls = Array.isArray(raw["mediaUrls"]) ? raw["mediaUrls"].filter((url): url is string => typeof url === "string" && url !== "") : undefined;
  return { text: string("text"), mediaUrls, mediaUrl: string("mediaUrl"), replyToId: string("replyToId") };
}

/** A `deliver` that hands on what is left of any payload. */
export const createNormalizedOutboundDeliverer =
  (handler: (payload: OutboundReplyPayload) => Promise<void>) =>
  async (payload: unknown): Promise<void> => handler(normalizeOutboundReplyPayload(payload));

export function resolveOutboundMediaUrls(payload: { readonly mediaUrls?: readonly string[] | undefined; readonly mediaUrl?: string | undefined }): string[] {
  if (payload.mediaUrls?.length) return [...payload.mediaUrls];
  return payload.mediaUrl ? [payload.mediaUrl] : [];
}

/** For channels without media: the addresses below the text. */
export function formatTextWithAttachmentLinks(text: string | undefined, mediaUrls: readonly string[]): string {
  const links = mediaUrls.map((url) => `Attachment: ${url}`).join("\n");
  return [text?.trim() ?? "", links].filter(Boolean).join("\n\n");
}

/** Sends media one after another, the first with the caption. false: there was none. Without `onError` the first failure ends it. */
export async function sendMediaWithLeadingCaption(input: {
  readonly mediaUrls: readonly string[];
  readonly caption: string;
  readonly send: (payload: { mediaUrl: string; caption?: string | undefined }) => Promise<void>;
  readonly onError?: ((err: unknown, mediaUrl: string) => void) | undefined;
}): Promise<boolean> {
  for (const [index, mediaUrl] of input.mediaUrls.entries()) {
    try {
      await input.send({ mediaUrl, caption: index === 0 ? input.caption : undefined });
    } catch (err) {
      if (!input.onError) throw err;
      input.onError(err, mediaUrl);
    }
  }
  return input.mediaUrls.length > 0;
}

export interface ReceivedFile {
  readonly path: string;
  readonly contentType?: string | null | undefined;
}

export interface MediaPayload {
  MediaPath?: string | undefined;
  MediaType?: string | undefined;
  MediaUrl?: string | undefined;
  MediaPaths?: string[] | undefined;
  MediaUrls?: string[] | undefined;
  MediaTypes?: string[] | undefined;
}

/** The fields of a message's context that name its files; `{}` for none. Types are those that are known. */
export const buildAgentMediaPayload = (files: readonly ReceivedFile[]): MediaPayload => buildMediaPayload(files);

/** `preserveMediaTypeCardinality`: as many types as files, empty where unknown. */
export function buildMediaPayload(files: readonly ReceivedFile[], options: { readonly preserveMediaTypeCardinality?: boolean | undefined } = {}): MediaPayload {
  const [first] = files;
  if (!first) return {};
  const paths = files.map((file) => file.path);
  const types = files.map((file) => file.contentType ?? "").filter((type) => options.preserveMediaTypeCardinality === true || type !== "");
  return {
    MediaPath: first.path, MediaType: textOf(first.contentType), MediaUrl: first.path, MediaPaths: paths, MediaUrls: [...paths],
    MediaTypes: types.length > 0 ? types : undefined,
  };
}

/** How a chat is called in the envelope: `Group id:42`, `Ann id:7`. */
export function formatInboundFromLabel(input: {
  readonly isGroup: boolean;
  readonly groupLabel?: string | undefined;
  readonly groupId?: string | undefined;
  readonly directLabel: string;
  readonly directId?: string | undefined;
  readonly groupFallback?: string | undefined;
}): string {
  if (input.isGroup) {
    const label = textOf(input.groupLabel) ?? input.groupFallback ?? "Group";
    return textOf(input.groupId) ? `${label} id:${textOf(input.groupId)}` : label;
  }
  const label = input.directLabel.trim();
  const id = textOf(input.directId);
  return id === undefined || id === label ? label : `${label} id:${id}`;
}

/** The key of a thread's session below its chat's. `useSuffix: false`: the chat's own key. */
export function resolveThreadSessionKeys(input: { readonly baseSessionKey: string; readonly threadId?: string | null | undefined; readonly parentSessionKey?: string | undefined; readonly useSuffix?: boolean | undefined }): { sessionKey: string; parentSessionKey?: string | undefined } {
  const threadId = textOf(input.threadId)?.toLowerCase();
  if (threadId === undefined) return { sessionKey: input.baseSessionKey, parentSessionKey: undefined };
  return { sessionKey: input.useSuffix === false ? input.baseSessionKey : `${input.baseSessionKey}:thread:${threadId}`, parentSessionKey: input.parentSessionKey };
}
