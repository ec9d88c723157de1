import { ChannelError, type SendOutcome } from "../contract/index.ts";

/** What a failed Bot API call means. Never holds the token: only codes and Telegram's own words are kept. */
export type TelegramFailure =
  | { readonly kind: "api"; readonly code: number; readonly description: string; readonly retryAfterMs: number | undefined; readonly migrateTo: string | undefined }
  /** `delivered: "no"`: the request certainly never arrived. */
  | { readonly kind: "network"; readonly reason: string; readonly delivered: "no" | "unknown" }
  | { readonly kind: "aborted" };

const NEVER_ARRIVED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN", "UND_ERR_CONNECT_TIMEOUT"]);

export function readFailure(err: unknown): TelegramFailure {
  for (let at: unknown = err, depth = 0; typeof at === "object" && at !== null && depth < 6; depth++) {
    if ("error_code" in at && typeof at.error_code === "number") return readApiError(at, at.error_code);
    if ("name" in at && at.name === "AbortError") return { kind: "aborted" };
    if ("code" in at && typeof at.code === "string") {
      return { kind: "network", reason: at.code, delivered: NEVER_ARRIVED.has(at.code) ? "no" : "unknown" };
    }
    if ("type" in at && at.type === "invalid-json") return { kind: "network", reason: "the answer was no Bot API answer", delivered: "unknown" };
    at = "error" in at ? at.error : "cause" in at ? at.cause : undefined;
  }
  const timedOut = err instanceof Error && /timed out/i.test(err.message + String("error" in err && err.error instanceof Error ? err.error.message : ""));
  return { kind: "network", reason: timedOut ? "timed out" : "connection failed", delivered: "unknown" };
}

function readApiError(err: object, code: number): TelegramFailure {
  const parameters: unknown = "parameters" in err ? err.parameters : undefined;
  const number = (name: string): number | undefined => {
    const value: unknown = typeof parameters === "object" && parameters !== null ? Reflect.get(parameters, name) : undefined;
    return typeof value === "number" ? value : undefined;
  };
  const retryAfter = number("retry_after");
  const migrateTo = number("migrate_to_chat_id");
  return {
    kind: "api",
    code,
    description: "description" in err && typeof err.description === "string" ? err.description : `error ${code}`,
    retryAfterMs: code === 429 ? (retryAfter ?? 1) * 1000 : undefined,
    migrateTo: migrateTo === undefined ? undefined : String(migrateTo),
  };
}

/** One line for logs and status. */
export function failureText(failure: TelegramFailure): string {
  if (failure.kind === "api") return `Telegram answered ${failure.code}: ${failure.description}`;
  return failure.kind === "aborted" ? "the request was aborted" : `Telegram is not reachable (${failure.reason})`;
}

export const isParseError = (failure: TelegramFailure): boolean =>
  failure.kind === "api" && failure.code === 400 && /can't parse entities|find end of the entity|text must be non-empty|message text is empty/i.test(failure.description);
export const isThreadMissing = (failure: TelegramFailure): boolean => failure.kind === "api" && failure.code === 400 && /message thread not found/i.test(failure.description);
export const isNotModified = (failure: TelegramFailure): boolean => failure.kind === "api" && failure.code === 400 && /message is not modified/i.test(failure.description);
/** The token is wrong or revoked; a malformed one is answered with 404. */
export const isBadToken = (failure: TelegramFailure): boolean => failure.kind === "api" && (failure.code === 401 || (failure.code === 404 && /^Not Found$/i.test(failure.description)));

export function toOutcome(failure: TelegramFailure, chatId: string, sentParts: number): SendOutcome {
  if (failure.kind === "aborted") return { kind: "uncertain", reason: failureText(failure), sentParts };
  if (failure.kind === "network") {
    return { kind: failure.delivered === "no" ? "unreachable" : "uncertain", reason: failureText(failure), sentParts };
  }
  if (failure.retryAfterMs !== undefined) return { kind: "rate-limited", retryAfterMs: failure.retryAfterMs, sentParts };
  if (failure.code >= 500) return { kind: "unreachable", reason: failureText(failure), sentParts };
  return { kind: "rejected", reason: explain(failure, chatId) };
}

function explain(failure: TelegramFailure & { kind: "api" }, chatId: string): string {
  if (isBadToken(failure)) return "Telegram refused the bot token; put a fresh one from @BotFather into channels.telegram.botToken.";
  if (/chat not found/i.test(failure.description)) {
    return `Telegram does not know chat ${chatId} (chat not found): the person has not started the bot, the bot was removed from the group, the group became a supergroup with a new id, or the token belongs to another bot.`;
  }
  if (failure.code === 403) return `The bot may not write to chat ${chatId}: ${failure.description}. It was blocked or removed, or lacks the right to post.`;
  return failureText(failure);
}

export function toChannelError(failure: TelegramFailure): ChannelError {
  if (isBadToken(failure)) {
    return new ChannelError("auth", "Telegram refused the bot token", "Put a fresh token from @BotFather into channels.telegram.botToken.");
  }
  if (failure.kind !== "api") return new ChannelError("unreachable", failureText(failure), "Check the network, channels.telegram.proxy and apiRoot.");
  if (failure.code === 409) {
    return new ChannelError("conflict", "Another process polls this bot (409)", "Stop the other gateway or bot that uses this token, or give this one a bot of its own.");
  }
  if (failure.retryAfterMs !== undefined) {
    return new ChannelError("rate-limited", failureText(failure), "Telegram asks to wait; it is tried again by itself.", { retryAfterMs: failure.retryAfterMs });
  }
  return new ChannelError(failure.code >= 500 ? "unreachable" : "rejected", failureText(failure), "See the description of the error.");
}
