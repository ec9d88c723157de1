import { randomBytes } from "node:crypto";
import type { ConfigSnapshot } from "./load.ts";
import type { ConfigWriter } from "./writer.ts";

/**
 * Gives a new installation its smallest configuration: local mode and a random token (spec: decisions §1.1). A configuration
 * that exists is completed only where a secret is missing that it asks for. Never touches an invalid one.
 */
export async function ensureInitialConfig(
  snapshot: ConfigSnapshot,
  writer: ConfigWriter,
  random: (bytes: number) => string = (bytes) => randomBytes(bytes).toString("hex"),
): Promise<ConfigSnapshot> {
  if (!snapshot.valid) return snapshot;
  const patch: Record<string, unknown> = {};
  const { gateway, commands } = snapshot.config;
  const auth = gateway?.auth;
  const envHasSecret =
    snapshot.env.get("OPENCLAW_GATEWAY_TOKEN") !== undefined ||
    snapshot.env.get("OPENCLAW_GATEWAY_PASSWORD") !== undefined;
  const isLocal = gateway?.mode !== "remote";
  if (!snapshot.exists) {
    patch["gateway"] = { mode: "local", auth: { mode: "token", token: random(24) } };
  } else if (isLocal && (auth?.mode ?? "token") === "token" && !auth?.token && !auth?.password && !envHasSecret) {
    patch["gateway"] = { auth: { mode: "token", token: random(24) } };
  }
  if (commands?.ownerDisplay === "hash" && !commands.ownerDisplaySecret)
    patch["commands"] = { ownerDisplaySecret: random(32) };
  if (Object.keys(patch).length === 0) return snapshot;
  return (await writer.mergePatch(patch)).snapshot;
}
