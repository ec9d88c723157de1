import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFileAccess } from "../file-access.ts";
import { applyChunks } from "./apply.ts";
import { parsePatch } from "./parse.ts";
import { createApplyPatchTool } from "./tool.ts";

async function folder() {
  const dir = await mkdtemp(join(tmpdir(), "patch-"));
  const workspaceDir = join(dir, "ws");
  await mkdir(workspaceDir);
  const tool = createApplyPatchTool({ access: createFileAccess({ workspaceDir, stateDir: join(dir, "state"), workspaceOnly: true, readRoots: [] }) });
  return {
    dir, workspaceDir,
    put: (name: string, text: string) => writeFile(join(workspaceDir, name), text),
    get: (name: string) => readFile(join(workspaceDir, name), "utf8"),
    run: async (lines: string) => tool.execute({ input: `*** Begin Patch\n${lines}\n*** End Patch` }, { toolCallId: "c", signal: new AbortController().signal, onUpdate: () => undefined }),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

it("adds, changes, moves and deletes files, and says which", async () => {
  await using f = await folder();
  await f.put("a.txt", "one\ntwo\nthree\n");
  await f.put("old.txt", "keep\nchange\n");
  await f.put("gone.txt", "x");
  const result = await f.run("*** Add File: sub/new.txt\n+hello\n+world\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** Update File: old.txt\n*** Move to: moved/new.txt\n@@ keep\n-change\n+changed\n*** Delete File: gone.txt");
  expect(result.content).toEqual([{ type: "text", text: "Success. Updated the following files:\nA sub/new.txt\nM a.txt\nM moved/new.txt\nD old.txt\nD gone.txt" }]);
  expect(result.details).toEqual({ summary: { added: ["sub/new.txt"], modified: ["a.txt", "moved/new.txt"], deleted: ["old.txt", "gone.txt"] } });
  expect([await f.get("sub/new.txt"), await f.get("a.txt"), await f.get("moved/new.txt")]).toEqual(["hello\nworld\n", "one\nTWO\nthree\n", "keep\nchanged\n"]);
  await expect(stat(join(f.workspaceDir, "gone.txt"))).rejects.toThrow("ENOENT");
});

it("touches nothing when any part does not fit", async () => {
  await using f = await folder();
  await f.put("a.txt", "one\n");
  await f.put("b.txt", "two\n");
  await expect(f.run("*** Update File: a.txt\n@@\n-one\n+ONE\n*** Update File: b.txt\n@@\n-three\n+x")).rejects.toThrow("Failed to find expected lines in b.txt:\nthree");
  expect(await f.get("a.txt")).toBe("one\n");
  await expect(f.run("*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: a.txt\n@@\n-one\n+2")).rejects.toThrow("a.txt is changed twice");
  await expect(f.run("*** Update File: nobody.txt\n@@\n-a\n+b")).rejects.toThrow("File not found: nobody.txt");
});

it.each(["../outside.txt", "/etc/openclaw-test", "link/x.txt"])("does not leave the workspace by %s", async (path) => {
  await using f = await folder();
  await mkdir(join(f.dir, "elsewhere"));
  await symlink(join(f.dir, "elsewhere"), join(f.workspaceDir, "link"));
  await expect(f.run(`*** Add File: ${path}\n+x`)).rejects.toThrow("outside the workspace");
  await f.put("a.txt", "x\n");
  await expect(f.run(`*** Update File: a.txt\n*** Move to: ${path}\n@@\n-x\n+y`)).rejects.toThrow("outside the workspace");
  expect(await f.get("a.txt")).toBe("x\n");
});

describe("a patch that is none", () => {
  it.each<[string, string]>([
    ["", "Provide a patch input."],
    ["diff --git a b", "The first line of the patch must be '*** Begin Patch'"],
    ["*** Begin Patch\n*** Add File: a\n+x", "The last line of the patch must be '*** End Patch'"],
    ["*** Begin Patch\n*** End Patch", "No files were modified."],
    ["*** Begin Patch\nhello\n*** End Patch", 'Invalid patch hunk at line 2: "hello" is no hunk header'],
    ["*** Begin Patch\n*** Update File: a\n*** End Patch", "Invalid patch hunk at line 2: the update has no lines"],
    ["*** Begin Patch\n*** Update File: \n@@\n-a\n+b\n*** End Patch", "Invalid patch hunk at line 2"],
    ["*** Begin Patch\n*** Update File: a\n@@\nwrong\n*** End Patch", "Invalid patch hunk at line 4: lines begin with a blank, + or -"],
  ])("%j: %s", (input, problem) => {
    expect(() => parsePatch(input)).toThrow(problem);
  });
});

describe("where a chunk fits", () => {
  const change = (text: string, patch: string): string => {
    const [hunk] = parsePatch(`*** Begin Patch\n*** Update File: f\n${patch}\n*** End Patch`);
    return applyChunks(text, hunk?.kind === "update" ? hunk.chunks : [], "f");
  };
  it.each<[string, string, string, string]>([
    ["without blanks at line ends", "a  \nb\n", "@@\n a\n-b\n+B", "a  \nB\n"],
    ["with other indentation", "\tif x:\n\t\tb\n", "@@\n if x:\n-b\n+c", "\tif x:\nc\n"],
    ["with typographic quotes and dashes", "say “hi” – now\nb\n", '@@\n say "hi" - now\n-b\n+c', "say “hi” – now\nc\n"],
    ["after its context line", "x\nfn a\nx\nfn b\nx\n", "@@ fn b\n-x\n+y", "x\nfn a\nx\nfn b\ny\n"],
    ["at the end of the file", "x\ny\nx\n", "@@\n-x\n+z\n*** End of File", "x\ny\nz\n"],
    ["as an addition at the end", "a\n", "@@\n+b", "a\nb\n"],
    ["as an addition after its context", "a\nc\n", "@@ a\n+b", "a\nb\nc\n"],
    ["without the first @@", "a\nb\n", " a\n-b\n+c", "a\nc\n"],
    ["in a file without a last line end", "a\nb", "@@\n-b\n+c", "a\nc"],
    ["in a file of Windows lines", "a\r\nb\r\n", "@@\n-b\n+c", "a\r\nc\r\n"],
    ["with an empty context line", "a\n\nb\n", "@@\n a\n\n-b\n+c", "a\n\nc\n"],
    ["twice", "a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D", "A\nb\nc\nD\n"],
  ])("%s", (_name, text, patch, expected) => {
    expect(change(text, patch)).toBe(expected);
  });

  it("any change of lines can be said and is carried out", () => {
    const line = fc.stringMatching(/^[a-z ]{0,6}$/);
    fc.assert(fc.property(fc.uniqueArray(line, { minLength: 2, maxLength: 8 }), fc.nat(), fc.array(line, { maxLength: 3 }), (lines, where, fresh) => {
      const at = where % lines.length;
      const patch = ["@@", ...lines.slice(0, at).map((text) => ` ${text}`), `-${lines[at]}`, ...fresh.map((text) => `+${text}`), ...lines.slice(at + 1).map((text) => ` ${text}`)].join("\n");
      const expected = [...lines.slice(0, at), ...fresh, ...lines.slice(at + 1)].map((text) => `${text}\n`).join("");
      expect(change(lines.map((text) => `${text}\n`).join(""), patch)).toBe(expected);
    }));
  });
});

it("a heredoc around the patch is taken off", () => {
  for (const open of ["<<EOF", "<<'EOF'", '<<"EOF"']) expect(parsePatch(`${open}\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF`)).toEqual([{ kind: "delete", path: "a" }]);
});
