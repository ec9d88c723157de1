import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { resolveBootstrapContextForRun, resolveBootstrapFilesForRun, truncateBootstrapText } from "./bootstrap-files.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "bootstrap-"));
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

const write = (name: string, text: string): Promise<void> => writeFile(join(dir, name), text);
const limits = (bootstrapMaxChars: number, bootstrapTotalMaxChars: number): OpenClawConfig => ({ agents: { defaults: { bootstrapMaxChars, bootstrapTotalMaxChars } } });

describe("long workspace files", () => {
  it("keeps 14,000 characters of the start and 4,000 of the end of 30,000", () => {
    const text = "h".repeat(15_000) + "t".repeat(15_000);
    const cut = truncateBootstrapText(text, "AGENTS.md", 20_000, 150_000);
    expect(cut.split("\n")[0]).toBe("h".repeat(14_000));
    expect(cut.split("\n").at(-1)).toBe("t".repeat(4_000));
    expect(cut).toContain("kept 14000+4000 chars of 30000");
    expect(cut).toContain("read AGENTS.md for full content");
  });

  it("stays within what is left and tears no character", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 400 }), fc.integer({ min: 1, max: 300 }), fc.integer({ min: 64, max: 400 }), (text, limit, remaining) => {
      const cut = truncateBootstrapText(text, "A.md", Math.min(limit, remaining), remaining);
      expect(cut.length).toBeLessThanOrEqual(Math.max(remaining, 0));
      if (text.isWellFormed()) expect(cut.isWellFormed()).toBe(true);
    }));
  });
});

describe("workspace files of a run", () => {
  it("names missing ones, in the fixed order, without the files that come and go", async () => {
    await write("SOUL.md", "soul\n\n");
    const files = await resolveBootstrapFilesForRun({ workspaceDir: dir, audience: "full", includeMemory: false });
    expect(files.map((file) => [file.fileName, file.missing])).toEqual([["AGENTS.md", true], ["SOUL.md", false], ["TOOLS.md", true], ["IDENTITY.md", true], ["USER.md", true]]);
    expect(files[0]?.content).toBe(`[MISSING] Expected at: ${join(dir, "AGENTS.md")}`);
    expect(files[1]?.content).toBe("soul");
  });

  it("shows MEMORY.md only where it is asked for, and never to subagents", async () => {
    await write("MEMORY.md", "private");
    const names = async (audience: "full" | "reduced", includeMemory: boolean): Promise<string[]> =>
      (await resolveBootstrapFilesForRun({ workspaceDir: dir, audience, includeMemory })).map((file) => file.fileName);
    expect(await names("full", true)).toContain("MEMORY.md");
    expect(await names("full", false)).not.toContain("MEMORY.md");
    expect(await names("reduced", true)).not.toContain("MEMORY.md");
  });

  it("keeps all files together within the total", async () => {
    for (const name of ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md"]) await write(name, "x".repeat(5000));
    const { bootstrapFiles, contextFiles } = await resolveBootstrapContextForRun({ workspaceDir: dir, config: limits(2000, 5000), audience: "full", includeMemory: false });
    expect(bootstrapFiles.reduce((sum, file) => sum + file.content.length, 0)).toBeLessThanOrEqual(5000);
    expect(contextFiles.length).toBeGreaterThan(0);
    expect(contextFiles.every((file) => file.content !== "")).toBe(true);
    expect(bootstrapFiles.every((file) => file.rawChars === 5000)).toBe(true);
  });

  it("names nothing more once fewer than 64 characters are left", async () => {
    await write("AGENTS.md", "a".repeat(950));
    await write("TOOLS.md", "t".repeat(950));
    const { bootstrapFiles, contextFiles } = await resolveBootstrapContextForRun({ workspaceDir: dir, config: limits(2000, 1000), audience: "full", includeMemory: false });
    expect(contextFiles.map((file) => file.path)).toEqual([join(dir, "AGENTS.md")]);
    expect(bootstrapFiles.find((file) => file.fileName === "SOUL.md")).toMatchObject({ missing: true, content: "" });
  });

  it("a subagent or cron job gets the five files about who and how", async () => {
    for (const name of ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"]) await write(name, "x");
    const files = await resolveBootstrapFilesForRun({ workspaceDir: dir, audience: "reduced", includeMemory: true });
    expect(files.map((file) => file.fileName)).toEqual(["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md"]);
  });

  it("does not follow a link out of the workspace", async () => {
    const outside = await mkdtemp(join(tmpdir(), "outside-"));
    await writeFile(join(outside, "secret.md"), "secret");
    await symlink(join(outside, "secret.md"), join(dir, "USER.md"));
    const warnings: string[] = [];
    const files = await resolveBootstrapFilesForRun({ workspaceDir: dir, audience: "full", includeMemory: false, warn: (text) => warnings.push(text) });
    expect(files.find((file) => file.fileName === "USER.md")?.missing).toBe(true);
    expect(warnings.join()).toContain("USER.md leads out of the workspace");
    await rm(outside, { recursive: true, force: true, maxRetries: 5 });
  });
});
