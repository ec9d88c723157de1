import type { BlockReplyConfig } from "../../agents/index.ts";
import type { ChannelPlugin } from "../../channels/contract/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { channelSection, subsection } from "../channel-section.ts";

const NATURAL_DELAY = { minMs: 800, maxMs: 2500 } as const;
const DEFAULT_CHUNK = { minChars: 800, maxChars: 1200 } as const;
const DEFAULT_LIMIT = 4000;
const DEFAULT_IDLE_MS = 1000;

/** undefined where block streaming is off: the default, unless the channel or the defaults switch it on. Source: spec agent-pipeline-output §6.2. */
export function resolveBlockReply(cfg: OpenClawConfig, plugin: ChannelPlugin, accountId: string, agentDelay: HumanDelay | undefined): BlockReplyConfig | undefined {
  const section = channelSection(cfg, plugin.id, accountId);
  const defaults = cfg.agents?.defaults;
  // Where a message may be answered a few times only, the general default would use the answers up.
  const on = typeof section["blockStreaming"] === "boolean" ? section["blockStreaming"] : plugin.capabilities.blockStreaming !== false && defaults?.blockStreamingDefault === "on";
  if (!on) return undefined;
  const limit = numberOf(section["textChunkLimit"]) ?? plugin.outbound?.textLimit.max ?? DEFAULT_LIMIT;
  const maxChars = Math.min(defaults?.blockStreamingChunk?.maxChars ?? DEFAULT_CHUNK.maxChars, limit);
  const minChars = Math.min(defaults?.blockStreamingChunk?.minChars ?? DEFAULT_CHUNK.minChars, maxChars);
  const own = subsection(section, "blockStreamingCoalesce");
  const ofChannel = plugin.streaming?.blockStreamingCoalesceDefaults;
  const general = defaults?.blockStreamingCoalesce;
  return {
    breakAt: defaults?.blockStreamingBreak ?? "text_end",
    chunk: { minChars, maxChars, breakPreference: defaults?.blockStreamingChunk?.breakPreference ?? "paragraph", flushOnParagraph: section["chunkMode"] === "newline" },
    coalesce: {
      minChars: numberOf(own["minChars"]) ?? ofChannel?.minChars ?? general?.minChars ?? minChars,
      maxChars: Math.min(numberOf(own["maxChars"]) ?? general?.maxChars ?? limit, limit),
      idleMs: numberOf(own["idleMs"]) ?? ofChannel?.idleMs ?? general?.idleMs ?? DEFAULT_IDLE_MS,
    },
    humanDelay: resolveHumanDelay(agentDelay ?? defaults?.humanDelay),
  };
}

type HumanDelay = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["humanDelay"]>;

/** Bounds of the pause between two messages; undefined for none. */
export function resolveHumanDelay(delay: HumanDelay | undefined): BlockReplyConfig["humanDelay"] {
  switch (delay?.mode) {
    case "natural":
      return NATURAL_DELAY;
    case "custom": {
      const minMs = Math.max(0, delay.minMs ?? NATURAL_DELAY.minMs);
      return { minMs, maxMs: Math.max(minMs, delay.maxMs ?? NATURAL_DELAY.maxMs) };
    }
    default:
      return undefined;
  }
}

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
