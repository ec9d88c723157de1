import { isRecord } from "./manifest.ts";
import type { CommandRegistration, PluginCommandContext } from "./registry.ts";
import { callPlugin } from "./scope.ts";

/** Names that a plugin may not take. Source: spec plugin-sdk §9. */
const RESERVED = new Set(
  "help commands status whoami context stop restart reset new compact config debug allowlist activation skill subagents kill steer tell model models queue send bash exec think verbose reasoning elevated usage".split(" "),
);
const MAX_ARGS_CHARS = 4096;
const LIMIT_MS = 120_000;

/** undefined when the name may be used. */
export function commandNameProblem(name: string): string | undefined {
  if (name === "") return "Command name cannot be empty";
  if (!/^[a-z][a-z0-9_-]*$/.test(name)) return "Command name must start with a letter and hold letters, digits, hyphens and underscores only";
  return RESERVED.has(name) ? `Command name "${name}" is reserved by a built-in command` : undefined;
}

const cleanArgs = (args: string): string => (args.length > MAX_ARGS_CHARS ? args.slice(0, MAX_ARGS_CHARS) : args.replace(/[^\P{Cc}\t\n]/gu, ""));

/** What a command answers with; no text and no files: nothing is said. */
export interface PluginCommandReply {
  readonly text: string;
  readonly mediaUrls: readonly string[];
  readonly audioAsVoice?: boolean | undefined;
  readonly replyToId?: string | undefined;
  readonly channelData?: Readonly<Record<string, unknown>> | undefined;
}

/** The parts of a ReplyPayload that count; a plugin may return anything. */
function readReply(reply: unknown): PluginCommandReply {
  const { text, mediaUrl, mediaUrls, audioAsVoice, replyToId, channelData } = isRecord(reply) ? reply : {};
  const media = [mediaUrl, ...(Array.isArray(mediaUrls) ? (mediaUrls as unknown[]) : [])].filter((item): item is string => typeof item === "string" && item.trim() !== "");
  return {
    text: typeof text === "string" ? text : "", mediaUrls: [...new Set(media)], audioAsVoice: audioAsVoice === true ? true : undefined,
    replyToId: typeof replyToId === "string" ? replyToId : undefined, channelData: isRecord(channelData) ? channelData : undefined,
  };
}

/** Never rejects: a failure is a text for the person, and `onError` hears of it. Source: spec plugin-sdk §9. */
export async function runPluginCommand({ command, args }: { readonly command: CommandRegistration; readonly args: string }, ctx: Omit<PluginCommandContext, "args">, onError: (err: unknown) => void): Promise<PluginCommandReply> {
  if (command.requireAuth && !ctx.isAuthorizedSender) return { text: "⚠️ This command requires authorization.", mediaUrls: [] };
  try {
    return readReply(await callPlugin(command.pluginId, `command /${command.name}`, LIMIT_MS, () => command.handler({ ...ctx, args: args === "" ? undefined : cleanArgs(args) })));
  } catch (err) {
    onError(err);
    return { text: "⚠️ Command failed. Please try again later.", mediaUrls: [] };
  }
}
