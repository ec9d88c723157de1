import type { ConfigWriter, OpenClawConfig } from "../config/index.ts";

/**
 * Does anybody own this installation on a channel? `commands.ownerAllowFrom`, else a channel's `allowFrom` with a real
 * entry. Source: spec decisions §7.1.
 */
export function hasOwner(cfg: OpenClawConfig): boolean {
  if ((cfg.commands?.ownerAllowFrom?.length ?? 0) > 0) return true;
  return Object.values((cfg.channels ?? {}) as Readonly<Record<string, unknown>>).some((section) => listsSomebody(section));
}

function listsSomebody(section: unknown): boolean {
  if (typeof section !== "object" || section === null) return false;
  const { allowFrom, accounts } = section as { allowFrom?: unknown; accounts?: unknown };
  if (Array.isArray(allowFrom) && allowFrom.some((entry) => String(entry).trim() !== "*" && String(entry).trim() !== "")) return true;
  return typeof accounts === "object" && accounts !== null && Object.values(accounts).some((account) => listsSomebody(account));
}

/** Adds `<channel>:<id>` to `commands.ownerAllowFrom`. */
export async function addOwner(writer: ConfigWriter, cfg: OpenClawConfig, owner: string): Promise<void> {
  const known = cfg.commands?.ownerAllowFrom?.map(String) ?? [];
  if (known.includes(owner)) return;
  await writer.set("commands.ownerAllowFrom", [...known, owner]);
}
