import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createGuardedFetch } from "../../../infra/guarded-fetch.ts";
import { createFileAccess } from "../file-access.ts";
import { createPdfTool, pageNumbers } from "./pdf-tool.ts";

/** A PDF of the given pages, written by hand. */
function pdf(...pages: readonly string[]): Buffer {
  const objects: string[] = ["<< /Type /Catalog /Pages 2 0 R >>", `<< /Type /Pages /Kids [${pages.map((_, i) => `${4 + i * 2} 0 R`).join(" ")}] /Count ${pages.length} >>`, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"];
  for (const [i, text] of pages.entries()) {
    const stream = text === "" ? "" : `BT /F1 24 Tf 72 700 Td (${text.replace(/[()\\]/g, "\\$&")}) Tj ET`;
    objects.push(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + i * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`, `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
  }
  let out = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const at = out.length;
    out += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const xref = out.length;
  out += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("")}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF`;
  return Buffer.from(out, "latin1");
}

async function folder(files: Record<string, Buffer | string>) {
  const workspaceDir = await mkdtemp(join(tmpdir(), "pdf-"));
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(workspaceDir, name), bytes);
  const tool = createPdfTool({ access: createFileAccess({ workspaceDir, stateDir: join(workspaceDir, "s"), workspaceOnly: true, readRoots: [] }), fetch: createGuardedFetch() });
  return {
    run: async (args: Record<string, unknown>) => {
      const result = await tool.execute(tool.prepare?.(args) ?? args, { toolCallId: "c", signal: new AbortController().signal, onUpdate: () => undefined });
      return { text: result.content.map((block) => (block.type === "text" ? block.text : "")).join(""), details: result.details };
    },
    [Symbol.asyncDispose]: () => rm(workspaceDir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

it("gives the text page by page, wrapped as foreign", async () => {
  await using f = await folder({ "a.pdf": pdf("Hello page one", "Second page", `Third ${"and so on ".repeat(6)}end of it`) });
  const all = await f.run({ path: "a.pdf" });
  expect(all.text).toMatch(/^<<<EXTERNAL_UNTRUSTED_CONTENT[\s\S]*--- page 1 of 3 ---\nHello page one\n\n--- page 2 of 3 ---\nSecond page/);
  expect(all.details).toEqual({ pages: [1, 2, 3], totalPages: 3, truncated: false });
  expect((await f.run({ path: "a.pdf", pages: "2" })).text).not.toContain("Hello");
  const cut = await f.run({ path: "a.pdf", maxChars: 100 });
  expect([cut.text.includes("end of it"), cut.text.includes("[Cut at 100 characters"), cut.details]).toEqual([false, true, { pages: [1, 2, 3], totalPages: 3, truncated: true }]);
});

it("says when there is no text, and when it is no PDF", async () => {
  await using f = await folder({ "scan.pdf": pdf(""), "not.pdf": "hello", "broken.pdf": "%PDF-1.4\ngarbage" });
  expect((await f.run({ path: "scan.pdf" })).text).toContain("probably pictures");
  await expect(f.run({ path: "not.pdf" })).rejects.toThrow("not.pdf is no PDF file.");
  await expect(f.run({ path: "broken.pdf" })).rejects.toThrow();
  await expect(f.run({ path: "gone.pdf" })).rejects.toThrow("File not found: gone.pdf");
  await expect(f.run({ path: "../x.pdf" })).rejects.toThrow("outside the workspace");
  await expect(f.run({ url: "http://127.0.0.1:1/x.pdf" })).rejects.toThrow("not on the public internet");
  await expect(f.run({})).rejects.toThrow("Missing required parameter: path");
});

it.each<[string | undefined, number[] | string]>([[undefined, [1, 2, 3, 4]], ["2-3", [2, 3]], ["4,1", [4, 1]], ["3-99", [3, 4]], ["0", "page 0"], ["9", "There are 4 pages"], ["a", "pages must look like"]])("pages %s", (wanted, expected) => {
  if (typeof expected === "string") expect(() => pageNumbers(wanted, 4)).toThrow(expected);
  else expect(pageNumbers(wanted, 4)).toEqual(expected);
});
