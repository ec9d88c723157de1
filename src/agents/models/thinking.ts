import type { Api, Model } from "@mariozechner/pi-ai";
import type { ThinkLevel } from "./types.ts";

const ALL: readonly ThinkLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh"];

/** Source: spec providers §6. */
const XHIGH = new Set([
  "openai/gpt-5.2", "openai-codex/gpt-5.3-codex", "openai-codex/gpt-5.3-codex-spark", "openai-codex/gpt-5.2-codex", "openai-codex/gpt-5.1-codex",
  "github-copilot/gpt-5.2", "github-copilot/gpt-5.2-codex",
]);

/** Levels a person may choose. zai knows on (`low`) and off only. */
export function thinkingLevelsOf(model: Model<Api>): ThinkLevel[] {
  if (!model.reasoning) return ["off"];
  if (model.provider === "zai") return ["off", "low"];
  const map = model.thinkingLevelMap;
  return ALL.filter((level) => {
    if (map?.[level] === null) return false;
    return level !== "xhigh" || map?.xhigh !== undefined || XHIGH.has(`${model.provider}/${model.id}`);
  });
}

/** `low` for models that reason, if they have it. */
export function defaultThinkingOf(model: Model<Api>): ThinkLevel {
  const levels = thinkingLevelsOf(model);
  return model.reasoning && levels.includes("low") ? "low" : (levels[0] ?? "off");
}
