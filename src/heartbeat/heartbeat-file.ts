import { join } from "node:path";
import { readRegularFile } from "../infra/regular-file.ts";

/** `empty`: nothing but blanks, headings and empty list items, so there is nothing to do. */
export async function readHeartbeatFile(workspaceDir: string): Promise<"missing" | "empty" | "tasks"> {
  try {
    return hasTasks((await readRegularFile(join(workspaceDir, "HEARTBEAT.md"))).toString("utf8")) ? "tasks" : "empty";
  } catch {
    return "missing"; // unreadable counts the same: the run itself will say so
  }
}

export function hasTasks(text: string): boolean {
  const bare = text.replace(/^---\n[\s\S]*?\n---\n/, "").replace(/<!--[\s\S]*?-->/g, "");
  return bare.split("\n").some((line) => !/^\s*(?:#{1,6}(?:\s.*)?|[-*+](?:\s+\[[ xX]?\])?|\d+[.)])?\s*$/.test(line));
}
