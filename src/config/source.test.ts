import { rename, rm } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createTestHome, type TestHome } from "../../test/support/config-home.ts";
import { type ConfigChange, type ConfigSource, createConfigSource } from "./source.ts";

async function start(home: TestHome): Promise<ConfigSource & Disposable & { next(): Promise<ConfigChange> }> {
  const source = createConfigSource({
    ...home.deps,
    initial: await home.load(),
    stabilityMs: 5,
    channelRules: () => [{ channelId: "telegram", configPrefixes: ["channels.telegram"] }],
  });
  source.watch();
  const seen: ConfigChange[] = [];
  const waiting: ((change: ConfigChange) => void)[] = [];
  source.onChange((change) => {
    const waiter = waiting.shift();
    if (waiter) waiter(change);
    else seen.push(change);
  });
  const next = (): Promise<ConfigChange> => {
    const change = seen.shift();
    return change ? Promise.resolve(change) : new Promise((resolve) => waiting.push(resolve));
  };
  return { ...source, next, [Symbol.dispose]: () => source.close() };
}

const CONFIG = (port: number, more = ""): string => `{ gateway: { port: ${port}, reload: { debounceMs: 5 } } ${more} }`;

describe("watching", () => {
  it("applies an edit of the file, and of a file put in its place", async () => {
    await using home = await createTestHome(CONFIG(1));
    using source = await start(home);
    await home.write("openclaw.json", CONFIG(2));
    expect(await source.next()).toMatchObject({
      changedPaths: ["gateway.port"],
      plan: { kind: "restart", restartPaths: ["gateway.port"] },
      previous: { gateway: { port: 1 } },
    });
    expect(source.current().gateway?.port).toBe(2);
    await home.write("new.json", CONFIG(2, ", channels: { telegram: { enabled: true } }"));
    await rename(home.file("new.json"), home.paths.configPath);
    const change = await source.next();
    expect(change.plan).toMatchObject({ kind: "hot", hot: new Set(["channel:telegram"]) });
  });

  it("sees edits of included files, also of one included later", async () => {
    await using home = await createTestHome(CONFIG(1));
    using source = await start(home);
    await home.write("part/log.json5", '{ level: "info" }');
    await home.write("openclaw.json", CONFIG(1, ', logging: { $include: "part/log.json5" }'));
    expect((await source.next()).config.logging?.level).toBe("info");
    await home.write("part/log.json5", '{ level: "debug" }');
    expect(await source.next()).toMatchObject({ changedPaths: ["logging.level"], plan: { kind: "none" } });
  });

  it("keeps the last good configuration while the file is broken, says why, and forgets it after the repair", async () => {
    await using home = await createTestHome(CONFIG(1));
    using source = await start(home);
    const before = source.current();
    await home.write("openclaw.json", '{ gateway: { port: "x" } }');
    await source.reload();
    expect(source.current()).toBe(before);
    expect(source.snapshot().valid).toBe(true);
    expect(source.lastError()).toMatchObject({
      path: "gateway.port",
      message: expect.stringContaining("expected int") as string,
    });
    await rm(home.paths.configPath);
    await source.reload();
    expect(source.lastError()?.message).toContain("vanished");
    expect(source.current()).toBe(before);
    await home.write("openclaw.json", CONFIG(3));
    await source.next();
    expect([source.lastError(), source.current().gateway?.port]).toEqual([undefined, 3]);
  });

  it("shows a write of its own at once, and only once", async () => {
    await using home = await createTestHome(CONFIG(1));
    using source = await start(home);
    const changes: ConfigChange[] = [];
    source.onChange((change) => changes.push(change));
    await source.writer.set("logging.level", "debug");
    expect(source.current().logging?.level).toBe("debug");
    await source.reload();
    expect(changes).toHaveLength(1);
    expect(changes[0]?.plan.kind).toBe("none");
  });

  it("survives a listener that throws", async () => {
    await using home = await createTestHome(CONFIG(1));
    using source = await start(home);
    source.onChange(() => {
      throw new Error("listener");
    });
    await source.writer.set("logging.level", "debug");
    expect((await source.next()).changedPaths).toContain("logging.level");
  });

  it("does not start on an invalid configuration", async () => {
    await using home = await createTestHome("{ gateway: 1 }");
    const initial = await home.load();
    expect(() => createConfigSource({ ...home.deps, initial })).toThrow(
      "gateway: Invalid input: expected object, received number",
    );
  });
});

it("honours the reload modes", async () => {
  await using home = await createTestHome('{ gateway: { reload: { mode: "hot" } } }');
  using source = await start(home);
  await source.writer.mergePatch({ gateway: { port: 5 }, cron: { enabled: false } });
  expect((await source.next()).plan).toMatchObject({ kind: "hot", hot: new Set(["cron"]) });
  await source.writer.set("gateway.reload.mode", "restart");
  expect((await source.next()).plan.kind).toBe("restart");
  await source.writer.mergePatch({ gateway: { port: 6, reload: { mode: "off" } } });
  expect((await source.next()).plan.kind).toBe("none");
});
