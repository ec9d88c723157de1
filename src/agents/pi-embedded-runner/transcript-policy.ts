import type { Api, Model } from "@mariozechner/pi-ai";

/** What a class of providers refuses in a conversation. Source: spec agent-pipeline §5.3 (table). */
export interface TranscriptPolicy {
  /** `alnum40`: letters and digits, at most 40; `alnum9`: exactly 9. Unique in both cases. */
  readonly toolIds: "as-is" | "alnum40" | "alnum9";
  readonly mergeUsers: boolean;
  readonly mergeAssistants: boolean;
  /** A conversation may not begin with the assistant. */
  readonly userFirst: boolean;
  readonly dropThinking: boolean;
  /** A reasoning item must be followed by what it led to. */
  readonly dropOrphanReasoning: boolean;
}

const PLAIN: TranscriptPolicy = {
  toolIds: "as-is", mergeUsers: false, mergeAssistants: false, userFirst: false, dropThinking: false, dropOrphanReasoning: false,
};

/** Servers of the OpenAI completions format that take a conversation as OpenAI itself does. */
const LENIENT_COMPLETIONS = new Set(["openai", "openai-codex", "openrouter", "opencode", "github-copilot"]);

export function resolveTranscriptPolicy(model: Pick<Model<Api>, "api" | "provider" | "id">): TranscriptPolicy {
  const isMistral = model.provider === "mistral" || model.api === "mistral-conversations" || /(^|\/)(mi[sx]tral|codestral|devstral|magistral|ministral|pixtral)/i.test(model.id);
  const isCopilotClaude = model.provider === "github-copilot" && /claude/i.test(model.id);
  switch (model.api) {
    case "anthropic-messages":
    case "bedrock-converse-stream":
      return { ...PLAIN, toolIds: "alnum40", mergeUsers: true, dropThinking: isCopilotClaude };
    case "google-generative-ai":
    case "google-vertex":
      return { ...PLAIN, toolIds: "alnum40", mergeAssistants: true, userFirst: true };
    case "openai-responses":
    case "openai-codex-responses":
    case "azure-openai-responses":
      return { ...PLAIN, dropOrphanReasoning: true };
    case "openai-completions":
      return {
        ...PLAIN, toolIds: isMistral ? "alnum9" : "as-is", dropThinking: isCopilotClaude,
        mergeUsers: !LENIENT_COMPLETIONS.has(model.provider),
      };
    default:
      return { ...PLAIN, toolIds: isMistral ? "alnum9" : "as-is" };
  }
}
