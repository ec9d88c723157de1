import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ensureDir, writeFileAtomic } from "../infra/atomic-file.ts";
import { extensionOf } from "./mime.ts";

export function inboundMediaDir(stateDir: string): string {
  return join(stateDir, "media", "inbound");
}

/** Saves bytes as `<name>---<uuid>.<ext>` under `<state>/media/<bucket>` and returns the path. Source: spec channels §2.5. */
export async function saveMedia(stateDir: string, bucket: "inbound" | "outbound", bytes: Uint8Array, mimeType: string, fileName?: string): Promise<string> {
  const dir = join(stateDir, "media", bucket);
  await ensureDir(dir);
  const stem = (fileName ?? "").replace(/\.[^.]*$/, "").normalize("NFC").replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+/, "").slice(0, 60);
  const path = join(dir, `${stem === "" ? "" : `${stem}---`}${randomUUID()}.${extensionOf(mimeType)}`);
  await writeFileAtomic(path, bytes);
  return path;
}
