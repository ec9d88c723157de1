import { join } from "node:path";
import type { AgentMessage } from "@mariozechner/pi-agent-core";
import { readRegularFile } from "../../infra/regular-file.ts";
import { truncateText } from "../../infra/text/index.ts";
import { resultText } from "./tool-result-guard.ts";

/** Files that the conversation touched; kept over several compactions in `details` of the entry. */
export interface FileDetails {
  readonly readFiles: string[];
  readonly modifiedFiles: string[];
}

const MAX_FAILURES = 8;
const MAX_FAILURE_CHARS = 240;
const MAX_FILES = 200;
const RULE_SECTIONS = ["Session Startup", "Red Lines"];
const RULES_IN_SUMMARY_CHARS = 2000;
const RULES_IN_EVENT_CHARS = 3000;
const MARKS = ["## Tool Failures", "<read-files>", "<modified-files>", "<workspace-critical-rules>"];

/** What is added to a summary without asking a model. Source: spec agent-pipeline §5.6. */
export function summaryAppendix(messages: readonly AgentMessage[], files: FileDetails, agentsMd: string | undefined): string {
  const rules = agentsMd === undefined ? "" : criticalRules(agentsMd, RULES_IN_SUMMARY_CHARS);
  const parts = [
    toolFailures(messages),
    files.readFiles.length > 0 && `<read-files>\n${files.readFiles.join("\n")}\n</read-files>`,
    files.modifiedFiles.length > 0 && `<modified-files>\n${files.modifiedFiles.join("\n")}\n</modified-files>`,
    rules !== "" && `<workspace-critical-rules>\n${rules}\n</workspace-critical-rules>`,
  ];
  return parts.filter(Boolean).map((part) => `\n\n${part as string}`).join("");
}

/** A summary as the model wrote it: the next one gets an appendix of its own. */
export function withoutAppendix(summary: string): string {
  const starts = MARKS.map((mark) => summary.indexOf(`\n\n${mark}`)).filter((at) => at >= 0);
  return starts.length === 0 ? summary : summary.slice(0, Math.min(...starts));
}

function toolFailures(messages: readonly AgentMessage[]): string | undefined {
  const lines: string[] = [];
  for (const message of messages) {
    if (message.role !== "toolResult" || !message.isError) continue;
    const text = resultText(message).replace(/\s+/g, " ").trim();
    lines.push(`- ${message.toolName}: ${text.length > MAX_FAILURE_CHARS ? `${truncateText(text, MAX_FAILURE_CHARS - 1)}…` : text}`);
  }
  const shown = lines.slice(0, MAX_FAILURES);
  const rest = lines.length - shown.length;
  return lines.length === 0 ? undefined : `## Tool Failures\n${shown.join("\n")}${rest > 0 ? `\n- …and ${rest} more` : ""}`;
}

/** Files read or changed by tools, with those of the compaction before; the newest win. */
export function fileDetails(messages: readonly AgentMessage[], previous: unknown): FileDetails {
  const read = new Set(listOf(previous, "readFiles"));
  const modified = new Set(listOf(previous, "modifiedFiles"));
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall" || typeof block.arguments["path"] !== "string") continue;
      if (block.name === "read") read.add(block.arguments["path"]);
      if (block.name === "write" || block.name === "edit") modified.add(block.arguments["path"]);
    }
  }
  return { readFiles: [...read].filter((path) => !modified.has(path)).slice(-MAX_FILES), modifiedFiles: [...modified].slice(-MAX_FILES) };
}

function listOf(details: unknown, field: "readFiles" | "modifiedFiles"): string[] {
  if (typeof details !== "object" || details === null || !(field in details)) return [];
  const list = (details as Record<string, unknown>)[field];
  return Array.isArray(list) ? list.filter((path): path is string => typeof path === "string") : [];
}

/** The sections of AGENTS.md that must survive a compaction. */
function criticalRules(agentsMd: string, maxChars: number): string {
  const sections = agentsMd.split(/^(?=#{1,3} )/m).filter((section) => {
    const title = /^#{1,3} (.*)$/m.exec(section)?.[1]?.trim().toLowerCase();
    return RULE_SECTIONS.some((name) => name.toLowerCase() === title);
  });
  return truncateText(sections.map((section) => section.trim()).join("\n\n"), maxChars);
}

export async function readAgentsMd(workspaceDir: string): Promise<string | undefined> {
  return readRegularFile(join(workspaceDir, "AGENTS.md")).then(String).catch(() => undefined); // none: the workspace has no rules
}

/** What the next turn is told after a compaction; undefined when AGENTS.md has no such sections. */
export function postCompactionEvent(agentsMd: string | undefined): string | undefined {
  const rules = agentsMd === undefined ? "" : criticalRules(agentsMd, RULES_IN_EVENT_CHARS);
  return rules === "" ? undefined : `The conversation was just compacted; earlier messages are now a summary. Before you go on, follow your startup steps again:\n\n${rules}`;
}
