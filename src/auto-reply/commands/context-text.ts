import { estimateTokensFromChars, type SystemPromptReport } from "../../agents/index.ts";
import type { SessionEntry } from "../../sessions/index.ts";
import { formatTokenCount } from "../reply/shape.ts";

const size = (chars: number): string => `${chars} chars (~${estimateTokensFromChars(chars)} tok)`;

const MAX_SKILL_NAMES = 20;
const MAX_TOOL_NAMES = 30;
const TOP = 30;

const named = (names: readonly string[], max: number): string =>
  names.length === 0 ? "none" : `${names.slice(0, max).join(", ")}${names.length > max ? ` … ${names.length - max} more` : ""}`;

/** The lines of /context list and /context detail. Source: spec agent-pipeline-output §8.5. */
export function contextText(report: SystemPromptReport, entry: Readonly<SessionEntry> | undefined, detail: boolean): string {
  const { systemPrompt, skills, tools } = report;
  const files = report.injectedWorkspaceFiles.map((file) => {
    const state = file.missing ? "MISSING" : file.truncated ? "TRUNCATED" : "OK";
    return `- ${file.name}: ${state} · raw ${size(file.rawChars)} · injected ${size(file.injectedChars)}`;
  });
  const parts = [
    "🧠 Context",
    `Model: ${report.provider}/${report.model}`,
    `Workspace: ${report.workspaceDir}`,
    `Limits: ${report.bootstrapMaxChars} chars a file, ${report.bootstrapTotalMaxChars} in all`,
    `Sandbox: mode=${report.sandbox.mode} sandboxed=${report.sandbox.sandboxed}`,
    `System prompt (${report.source === "run" ? "as last sent" : "as it would be sent"}): ${size(systemPrompt.chars)}, project files ${size(systemPrompt.projectContextChars)}, the rest ${size(systemPrompt.nonProjectContextChars)}`,
    `\nFiles:\n${files.join("\n")}`,
    `\nSkills: ${size(skills.promptChars)} · ${skills.entries.length}: ${named(skills.entries.map((skill) => skill.name), MAX_SKILL_NAMES)}`,
    `Tools: list ${size(tools.listChars)} · schemas ${size(tools.schemaChars)} · ${tools.entries.length}: ${named(tools.entries.map((tool) => tool.name), MAX_TOOL_NAMES)}`,
    tools.removed && tools.removed.length > 0 ? `Not offered: ${named(tools.removed.map(({ name, rule }) => `${name} (${rule})`), MAX_TOOL_NAMES)}` : undefined,
    ...(detail ? detailParts(report) : []),
    sessionLine(entry),
  ];
  return parts.filter((part) => part !== undefined).join("\n");
}

function detailParts({ skills, tools }: SystemPromptReport): string[] {
  const bySchema = tools.entries.toSorted((a, b) => b.schemaChars - a.schemaChars).slice(0, TOP);
  const bySummary = tools.entries.toSorted((a, b) => b.summaryChars - a.summaryChars).slice(0, TOP);
  const bySkill = skills.entries.toSorted((a, b) => b.blockChars - a.blockChars).slice(0, TOP);
  return [
    `\nLargest tool schemas:\n${bySchema.map((tool) => `- ${tool.name}: ${size(tool.schemaChars)} · ${tool.propertiesCount} parameters`).join("\n")}`,
    `\nLargest tool summaries:\n${bySummary.map((tool) => `- ${tool.name}: ${size(tool.summaryChars)}`).join("\n")}`,
    `\nLargest skills:\n${bySkill.map((skill) => `- ${skill.name}: ${size(skill.blockChars)}`).join("\n") || "none"}`,
  ];
}

function sessionLine(entry: Readonly<SessionEntry> | undefined): string | undefined {
  if (entry?.totalTokens === undefined) return undefined;
  const about = entry.totalTokensFresh ? "" : " (estimate)";
  const turn = entry.inputTokens === undefined ? "" : ` · last turn ${formatTokenCount(entry.inputTokens)} in / ${formatTokenCount(entry.outputTokens ?? 0)} out`;
  return `\nSession: ${entry.totalTokens}${about} of ${entry.contextTokens ?? "?"} tokens${turn}`;
}
