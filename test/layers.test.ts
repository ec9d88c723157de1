import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { forbiddenRooms, tiers } from "./layers.ts";

const SRC = join(import.meta.dirname, "..", "src");

/** What lint does not see: `import("…").Type`, and cycles that a dynamic import closes. */
function sources(): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  for (const entry of readdirSync(SRC, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts") || entry.name.endsWith(".d.ts")) continue;
    const file = join(entry.parentPath, entry.name);
    const name = relative(SRC, file);
    if (name.startsWith("control-ui/") || name.endsWith(".test.ts")) continue;
    const text = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    const targets = [...text.matchAll(/(?:from\s+|import\s*\(\s*|import\s+)"(\.{1,2}\/[^"]+\.ts)"/g)].map((match) => relative(SRC, resolve(dirname(file), match[1] as string)));
    graph.set(name, targets);
  }
  return graph;
}

const roomOf = (file: string): string | undefined => tiers.flat().toSorted((a, b) => b.length - a.length).find((room) => file.startsWith(`${room}/`));

it("no file reaches up into a higher room, in any form of import", () => {
  const wrong: string[] = [];
  for (const [file, targets] of sources()) {
    const room = roomOf(file);
    if (!room) continue;
    const forbidden = forbiddenRooms(room);
    for (const target of targets) {
      const other = roomOf(target);
      if (other !== undefined && other !== room && forbidden.includes(other)) wrong.push(`${file} → ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

it("a room is entered through its index or a file of its own", () => {
  const wrong: string[] = [];
  const open = new Set(["infra"]);
  for (const [file, targets] of sources()) {
    const room = roomOf(file);
    for (const target of targets) {
      const other = roomOf(target);
      if (!room || !other || other === room || open.has(other)) continue;
      // A room with floors (gateway/protocol) is entered at the floor.
      if (!target.endsWith("index.ts") && !target.startsWith("gateway/protocol/types")) wrong.push(`${file} → ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});

it("rooms do not form cycles, dynamic imports included", () => {
  const edges = new Map<string, Set<string>>();
  for (const [file, targets] of sources()) {
    const room = roomOf(file);
    if (!room) continue;
    for (const target of targets) {
      const other = roomOf(target);
      if (other && other !== room) edges.set(room, (edges.get(room) ?? new Set()).add(other));
    }
  }
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of edges.get(from) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  expect([...edges.keys()].filter((room) => reach(room).has(room))).toEqual([]);
});
