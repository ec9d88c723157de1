import type { SessionToolRow, SessionToolScope } from "./contract.ts";

/** Which sessions a run may see and write to. Source: spec tools-and-automation §1.4. */
export function isVisible(scope: Pick<SessionToolScope, "sessionKey" | "agentId" | "visibility" | "agentToAgent">, row: Pick<SessionToolRow, "key" | "agentId">, rows: readonly Pick<SessionToolRow, "key" | "spawnedBy">[]): boolean {
  if (row.key === scope.sessionKey) return true;
  if (row.agentId !== scope.agentId) return scope.visibility === "all" && mayCross(scope.agentToAgent, scope.agentId, row.agentId);
  switch (scope.visibility) {
    case "self":
      return false;
    case "tree":
      return isBelow(scope.sessionKey, row.key, rows);
    case "agent":
    case "all":
      return true;
  }
}

/** Both sides must be named. */
function mayCross({ enabled, allow }: SessionToolScope["agentToAgent"], from: string, to: string): boolean {
  const matches = (id: string): boolean => allow.some((pattern) => new RegExp(`^${pattern.trim().split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`, "i").test(id));
  return enabled && matches(from) && matches(to);
}

function isBelow(ancestor: string, key: string, rows: readonly Pick<SessionToolRow, "key" | "spawnedBy">[]): boolean {
  const seen = new Set<string>();
  for (let at: string | undefined = key; at !== undefined && !seen.has(at); ) {
    seen.add(at);
    const parent: string | undefined = rows.find((row) => row.key === at)?.spawnedBy;
    if (parent === ancestor) return true;
    at = parent;
  }
  return false;
}

export const forbidden = (error: string): { status: "forbidden"; error: string } => ({ status: "forbidden", error });

export function notVisible(scope: Pick<SessionToolScope, "visibility" | "sandbox">, key: string): { status: "forbidden"; error: string } {
  const rule = scope.sandbox?.limitsVisibility ? "agents.defaults.sandbox.sessionToolsVisibility=spawned" : `tools.sessions.visibility=${scope.visibility}`;
  return forbidden(`Session ${key} is not visible from here (${rule}).`);
}
