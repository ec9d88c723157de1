import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepareFileArguments } from "./arguments.ts";
import type { AgentTool } from "./contract.ts";
import { createFileAccess } from "./file-access.ts";
import { createEditTool, createReadTool, createWriteTool, replaceOnce } from "./file-tools.ts";

let home: string;
let workspace: string;
let state: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "files-"));
  state = join(home, "state");
  workspace = join(state, "workspace");
  await mkdir(workspace, { recursive: true });
});
afterEach(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

async function call(tool: AgentTool, args: Record<string, unknown>): Promise<string> {
  const result = await tool.execute(tool.prepare?.(args) ?? args, { toolCallId: "t", signal: new AbortController().signal, onUpdate: () => undefined });
  return result.content.map((block) => (block.type === "text" ? block.text : `<${block.mimeType}>`)).join("");
}
const options = (workspaceOnly = false) => ({
  access: createFileAccess({ workspaceDir: workspace, stateDir: state, workspaceOnly, readRoots: [join(home, "docs")] }), contextTokens: 20_000,
});
const read = (args: Record<string, unknown>, workspaceOnly?: boolean) => call(createReadTool(options(workspaceOnly)), args);
const write = (args: Record<string, unknown>, workspaceOnly?: boolean) => call(createWriteTool(options(workspaceOnly)), args);
const edit = (args: Record<string, unknown>, workspaceOnly?: boolean) => call(createEditTool(options(workspaceOnly)), args);
const file = (name: string): string => join(workspace, name);

describe("read", () => {
  it("gives a short file as it is, by relative or absolute path", async () => {
    await writeFile(file("a.txt"), "one\ntwo\n");
    expect(await read({ file_path: "a.txt" })).toBe("one\ntwo");
    expect(await read({ path: file("a.txt") })).toBe("one\ntwo");
  });

  it("pages by line and says how to go on", async () => {
    await writeFile(file("a.txt"), "1\n2\n3\n4\n");
    expect(await read({ path: "a.txt", offset: "2", limit: 2 })).toBe("2\n3\n\n[1 more lines in file. Use offset=4 to continue.]");
    await expect(read({ path: "a.txt", offset: 20 })).rejects.toThrow("Offset 20 is beyond end of file (4 lines total)");
  });

  it("can be followed to the end of a long file without losing a line", async () => {
    const lines = Array.from({ length: 6000 }, (_, i) => `line ${i} ${"x".repeat(i % 40)}`);
    await writeFile(file("long.txt"), `${lines.join("\n")}\n`);
    const seen: string[] = [];
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const text: string = await read({ path: "long.txt", offset });
      const next: RegExpExecArray | null = /\n\n\[Read output capped at \d+ bytes for this call\. Use offset=(\d+) to continue\.\]$/.exec(text);
      seen.push(...text.slice(0, next?.index).split("\n"));
      expect(Buffer.byteLength(text)).toBeLessThan(52 * 1024);
      offset = next ? Number(next[1]) : undefined;
    }
    expect(seen).toEqual(lines);
  });

  it("announces an image by what its bytes say, not by its name", async () => {
    await writeFile(file("pic.txt"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]));
    expect(await read({ path: "pic.txt" })).toMatch(/^Read image file \[image\/png\]\n\[media attached: .*pic\.txt \(image\/png\)\]$/);
  });

  it("says what is wrong with the path", async () => {
    await expect(read({ path: "none.txt" })).rejects.toThrow("ENOENT: no such file or directory, access 'none.txt'");
    await expect(read({ path: "." })).rejects.toThrow("is a directory");
    await expect(read({})).rejects.toThrow("Missing required parameter: path (path or file_path). Supply correct parameters before retrying.");
    await expect(read({ path: "a\0b" })).rejects.toThrow("NUL");
  });
});

describe("write and edit", () => {
  it("creates folders, overwrites and counts bytes", async () => {
    expect(await write({ path: "deep/er/a.txt", content: [{ type: "text", text: "é" }, { text: "!" }] })).toBe("Successfully wrote 3 bytes to deep/er/a.txt");
    await write({ path: "deep/er/a.txt", content: "new" });
    expect(await readFile(file("deep/er/a.txt"), "utf8")).toBe("new");
    await expect(write({ path: "a", content: "" })).rejects.toThrow("Missing required parameter: content");
  });

  it("keeps a script executable", async () => {
    await writeFile(file("run.sh"), "#!/bin/sh\necho a\n");
    await chmod(file("run.sh"), 0o755);
    await write({ path: "run.sh", content: "#!/bin/sh\necho b\n" });
    await edit({ path: "run.sh", old_string: "echo b", new_string: "echo c" });
    expect((await stat(file("run.sh"))).mode & 0o777).toBe(0o755);
    expect(await readFile(file("run.sh"), "utf8")).toContain("echo c");
  });

  it("explains why an edit did not happen", async () => {
    await writeFile(file("a.txt"), "x = 1\ny = 2\nx = 1\n");
    await expect(edit({ path: "a.txt", oldText: "x = 1", newText: "x = 3" })).rejects.toThrow("Found 2 occurrences of the text in a.txt.");
    await expect(edit({ path: "a.txt", oldText: "z", newText: "x" })).rejects.toThrow("Could not find the exact text in a.txt.");
    await expect(edit({ path: "b.txt", oldText: "z", newText: "x" })).rejects.toThrow("File not found: b.txt");
    await expect(edit({ path: "a.txt", oldText: "y", newText: "y" })).rejects.toThrow("No changes made to a.txt.");
    await expect(edit({ path: "a.txt", oldText: "y" })).rejects.toThrow("Missing required parameter: newText");
    expect(await edit({ path: "a.txt", oldText: "y = 2\n", newText: "" })).toBe("Successfully replaced text in a.txt.");
    expect(await readFile(file("a.txt"), "utf8")).toBe("x = 1\nx = 1\n");
  });
});

describe("one replacement", () => {
  it.each([
    ["\uFEFFa\r\nb\r\nc\r\n", "b\nc", "B\nC", "\uFEFFa\r\nB\r\nC\r\n"],
    ["a\r\nb\nc\n", "c", "C", "a\r\nb\nC\n"],
    ["\uFEFFsay \u201Chi\u201D\n", 'say "hi"', "bye", "\uFEFFbye\n"],
    ["if (x)\u00A0{\n\ty();\n}\n", "if (x) {\n  y();", "z();", "z();\n}\n"],
    ["a $& b", "$&", "$1$$", "a $1$$ b"],
  ])("in %j of %j by %j gives %j", (text, oldText, newText, expected) => {
    expect(replaceOnce(text, oldText, newText, "f")).toBe(expected);
  });

  it("is refused where two places overlap", () => {
    expect(() => replaceOnce("aaa", "aa", "b", "f")).toThrow("Found 2 occurrences");
  });

  it("changes the named place and nothing else", () => {
    const part = fc.array(fc.constantFrom("a", "b", " ", "\n", "é", "x\n"), { maxLength: 10 }).map((list) => list.join(""));
    fc.assert(fc.property(part, part, part, fc.boolean(), fc.boolean(), (before, after, replacement, crlf, bom) => {
      const ends = (text: string): string => (bom ? "\uFEFF" : "") + (crlf ? text.replaceAll("\n", "\r\n") : text);
      expect(replaceOnce(ends(`${before}<MARK>${after}`), "<MARK>", replacement, "f")).toBe(
        // Without a line end of its own the file has none to keep.
        crlf && !/\n/.test(before + after) ? (bom ? "\uFEFF" : "") + before + replacement + after : ends(before + replacement + after),
      );
    }));
  });
});

describe("where files may lie", () => {
  it("confines to the workspace, through links too", async () => {
    const outside = join(home, "outside");
    await mkdir(outside);
    await writeFile(join(outside, "o.txt"), "outside");
    await symlink(outside, file("link"));
    for (const path of ["link/o.txt", "../../outside/o.txt", join(outside, "o.txt")]) {
      await expect(read({ path }, true)).rejects.toThrow("tools.fs.workspaceOnly");
      await expect(write({ path, content: "x" }, true)).rejects.toThrow("tools.fs.workspaceOnly");
      await expect(edit({ path, oldText: "outside", newText: "x" }, true)).rejects.toThrow("tools.fs.workspaceOnly");
    }
    await expect(write({ path: "link/new/deep.txt", content: "x" }, true)).rejects.toThrow("outside the workspace");
    expect(await read({ path: "link/o.txt" })).toBe("outside");
    expect(await readFile(join(outside, "o.txt"), "utf8")).toBe("outside");
  });

  it("reads skills and documentation all the same, but does not write there", async () => {
    await mkdir(join(home, "docs"));
    await writeFile(join(home, "docs", "d.md"), "doc");
    expect(await read({ path: join(home, "docs", "d.md") }, true)).toBe("doc");
    await expect(write({ path: join(home, "docs", "d.md"), content: "x" }, true)).rejects.toThrow("outside");
  });

  it.each(["openclaw.json", "openclaw.json.bak", ".env", "credentials/telegram.json", "identity/device.json", "devices/paired.json", "delivery/journal.sqlite", "agents/main/agent/auth-profiles.json"])(
    "never opens %s of the gateway, not even through a link", async (name) => {
      await mkdir(join(state, name, ".."), { recursive: true });
      await writeFile(join(state, name), "secret");
      await symlink(join(state, name), file("innocent"));
      for (const path of [join(state, name), `../${name}`, "innocent"]) {
        await expect(read({ path })).rejects.toThrow("not accessible to tools");
        await expect(write({ path, content: "x" })).rejects.toThrow("not accessible to tools");
      }
    },
  );
});

describe("what is no file", () => {
  it("pipes and devices are refused at once, not waited for", async () => {
    execFileSync("mkfifo", [file("pipe")]);
    await symlink("/dev/zero", file("endless"));
    for (const path of ["pipe", "endless"]) {
      await expect(read({ path })).rejects.toThrow("is no regular file");
      await expect(edit({ path, oldText: "a", newText: "b" })).rejects.toThrow("is no regular file");
    }
  });

  it("a file too large to read whole is said to be", async () => {
    await truncate(await writeFile(file("huge"), "").then(() => file("huge")), 1_000_000_000);
    await expect(read({ path: "huge" })).rejects.toThrow("too many to read at once");
    await expect(edit({ path: "huge", oldText: "a", newText: "b" })).rejects.toThrow("has more than 67108864 bytes");
  });

  it.runIf(process.platform === "linux").each(["/proc/self/environ", `/proc/${process.pid}/environ`, "/proc/self/task/../environ", "/proc/thread-self/environ", "/proc/self/mem"])("the keys of running programs stay theirs: %s", async (path) => {
    await symlink(path, file("link"));
    for (const name of [path, "link"]) await expect(read({ path: name })).rejects.toThrow("holds secrets of a running program");
  });

  it.runIf(process.platform === "linux")("other files of the system can be read", async () => {
    expect(await read({ path: "/proc/version" })).toContain("Linux");
  });
});

describe("arguments as models send them", () => {
  it("understands other names and nested blocks", () => {
    expect(prepareFileArguments({ filePath: "a", old_text: { text: "x" }, newText: [{ content: "y" }, "z"], limit: "10" })).toEqual({ path: "a", oldText: "x", newText: "yz", limit: 10 });
  });
});
