import { isAbsolute, relative, resolve } from "node:path";
import { ensureDir, writeFileAtomic } from "../../infra/atomic-file.ts";
import { loadTranscript, relinkEntries } from "../../sessions/index.ts";
import { renderSessionHtml, type SessionExport } from "./export-html.ts";

export interface ExportRequest extends Omit<SessionExport, "entries"> {
  readonly transcript: string;
  readonly workspaceDir: string;
  /** Inside the workspace; undefined makes a name of its own. */
  readonly path: string | undefined;
}

/** Writes the page, readable for the owner of the process only. @throws Error when the path leaves the workspace */
export async function exportSessionFile(request: ExportRequest): Promise<{ readonly file: string; readonly entries: number }> {
  const file = targetFile(request);
  const entries = relinkEntries((await loadTranscript(request.transcript)).entries);
  if (entries.length === 0) throw new Error("this session has no messages yet");
  await ensureDir(resolve(file, ".."));
  await writeFileAtomic(file, renderSessionHtml({ ...request, entries }));
  return { file, entries: entries.length };
}

function targetFile({ workspaceDir, path, sessionId, exportedAtMs }: ExportRequest): string {
  const stamp = new Date(exportedAtMs).toISOString().slice(0, 19).replace(/[:T]/g, "-");
  const file = resolve(workspaceDir, path ?? `openclaw-session-${sessionId.slice(0, 8)}-${stamp}.html`);
  const inside = relative(workspaceDir, file);
  if (inside === "" || inside.startsWith("..") || isAbsolute(inside)) throw new Error(`${path} is not inside the workspace ${workspaceDir}`);
  return /\.html?$/i.test(file) ? file : `${file}.html`;
}
