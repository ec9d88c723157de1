import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../infra/log.ts";
import {
  createChannelPairingStore, createDeviceAuthStore, createDeviceStore, decodePublicKey, deviceIdOf, identityFromSeed, loadDeviceIdentity, signedText, verifyDeviceSignature,
} from "./index.ts";
import type { DeviceClaim, DeviceStoreEvent } from "./index.ts";

async function setup(now = { ms: 1_767_225_600_000 }) {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-pairing-"));
  const deps = { stateDir, clock: { now: () => now.ms }, log: silentLogger };
  return { ...deps, now, [Symbol.asyncDispose]: () => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }) };
}

describe("a device identity", () => {
  it("signs as the captured vector says", () => {
    const identity = identityFromSeed(Uint8Array.from({ length: 32 }, (_, i) => i));
    const text = signedText({
      deviceId: identity.deviceId, clientId: "gateway-client", clientMode: "backend", role: "operator", scopes: ["operator.read", "operator.write"],
      signedAtMs: 1767225600000, token: "GATEWAY-TOKEN", nonce: "11111111-2222-4333-8444-555555555555",
    });
    expect(identity.publicKey).toBe("A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg");
    expect(identity.deviceId).toBe("56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c");
    expect(identity.sign(text)).toBe("hUDkPz1xU7PEJgln8CDBuSMYcaq_ZMJfjUWgBzMqUmwkymlCEefCs7ezeUY3QBfwBVfKXOaPL1ENtzmelNBXCg");
    const raw = decodePublicKey(identity.publicKey);
    expect(raw && verifyDeviceSignature(raw, text, identity.sign(text))).toBe(true);
    expect(raw && verifyDeviceSignature(raw, `${text}x`, identity.sign(text))).toBe(false);
    expect(raw && verifyDeviceSignature(raw, text, "junk")).toBe(false);
  });

  it("is made once, readable by its owner only, and a PEM key gives the same id", async () => {
    await using t = await setup();
    const first = await loadDeviceIdentity(t.stateDir, 1);
    const path = join(t.stateDir, "identity", "device.json");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const file = JSON.parse(await readFile(path, "utf8")) as { publicKeyPem: string };
    expect(deviceIdOf(decodePublicKey(file.publicKeyPem) ?? Buffer.alloc(0))).toBe(first.deviceId);
    await writeFile(path, JSON.stringify({ ...file, deviceId: "wrong" }));
    expect((await loadDeviceIdentity(t.stateDir, 2)).deviceId).toBe(first.deviceId);
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ deviceId: first.deviceId, version: 1 });
    await writeFile(path, "{}");
    await expect(loadDeviceIdentity(t.stateDir, 2)).rejects.toThrow("holds no Ed25519 private key");
  });

  it("keeps its tokens per role, and drops them with another device", async () => {
    await using t = await setup();
    const store = createDeviceAuthStore(t);
    await store.save("d1", { token: "a", role: "operator", scopes: ["z", "b"], updatedAtMs: 1 });
    expect(createDeviceAuthStore(t).get("d1", "operator")).toEqual({ token: "a", role: "operator", scopes: ["b", "z"], updatedAtMs: 1 });
    expect(store.get("d2", "operator")).toBeUndefined();
    await store.forget("d1", "operator");
    expect(store.get("d1", "operator")).toBeUndefined();
  });
});

describe("paired devices", () => {
  const claim = (over: Partial<DeviceClaim> = {}): DeviceClaim => ({ deviceId: "d", publicKey: "k", role: "operator", scopes: ["operator.read"], ...over });
  const admin = { scopes: ["operator.admin"] };

  it("wait five minutes for approval, as one request that grows, and are announced once", async () => {
    await using t = await setup();
    const store = createDeviceStore(t);
    const events: DeviceStoreEvent[] = [];
    store.on((e) => events.push(e));
    const first = await store.request(claim());
    const again = await store.request(claim({ scopes: ["operator.write"] }));
    expect([first.created, again.created, again.request.requestId]).toEqual([true, false, first.request.requestId]);
    expect(again.request.scopes).toEqual(["operator.read", "operator.write"]);
    expect(await store.approve(first.request.requestId, { scopes: ["operator.pairing", "operator.read"] })).toEqual({ kind: "forbidden", missingScope: "operator.write" });
    const approvals = await Promise.all([1, 2, 3].map(() => store.approve(first.request.requestId, admin)));
    expect(approvals.map((a) => a.kind).sort()).toEqual(["ok", "unknown", "unknown"]);
    expect(events.map((e) => e.kind)).toEqual(["requested", "resolved"]);
    const late = await store.request(claim({ deviceId: "e" }));
    t.now.ms += 5 * 60_000;
    expect(await store.approve(late.request.requestId, admin)).toEqual({ kind: "unknown" });
    expect((await stat(join(t.stateDir, "devices", "paired.json"))).mode & 0o777).toBe(0o600);
  });

  it("keep their token across a wider approval, and a node's role never wakes operator scopes", async () => {
    await using t = await setup();
    const store = createDeviceStore(t);
    await store.approveSilently(claim());
    const token = (await store.ensureToken(claim()))?.token ?? "";
    const { request } = await store.request(claim({ scopes: ["operator.write"] }));
    await store.approve(request.requestId, admin);
    expect(store.verifyToken({ deviceId: "d", role: "operator", token })).toEqual(["operator.read", "operator.write"]);
    const node = await store.request(claim({ role: "node", scopes: ["operator.admin"] }));
    await store.approve(node.request.requestId, admin);
    expect(store.get("d")?.approvedScopes).toEqual(["operator.read", "operator.write"]);
    expect(store.reasonToPair(claim({ scopes: ["operator.admin"] }))).toBe("scope-upgrade");
    expect(store.verifyToken({ deviceId: "d", role: "node", token })).toBeUndefined();
  });

  it("read what another process wrote, and survive a broken file", async () => {
    await using t = await setup();
    const store = createDeviceStore(t);
    await store.approveSilently(claim());
    const other = createDeviceStore(t);
    await other.remove("d");
    expect(store.get("d")).toBeUndefined();
    await store.approveSilently(claim());
    const path = join(t.stateDir, "devices", "paired.json");
    await writeFile(path, '{"d": {"deviceId"');
    expect(store.get("d")?.deviceId).toBe("d");
    expect(createDeviceStore(t).get("d")).toBeUndefined();
    await store.approveSilently(claim({ deviceId: "e" }));
    expect((await readdir(join(t.stateDir, "devices"))).some((name) => name.startsWith("paired.json.corrupt-"))).toBe(true);
    expect(createDeviceStore(t).list().paired.map((d) => d.deviceId).sort()).toEqual(["d", "e"]);
    expect(store.get("constructor")).toBeUndefined();
  });
});

describe("chat senders", () => {
  const key = { channel: "telegram", accountId: "default" };

  it("get one code, are admitted by it for that account only, and the file has the known shape", async () => {
    await using t = await setup();
    const store = createChannelPairingStore(t);
    const first = await store.request(key, { id: "42", meta: { username: "ann" } });
    expect(first).toMatchObject({ kind: "created", code: expect.stringMatching(/^[A-HJ-NP-Z2-9]{8}$/) });
    expect(await store.request(key, { id: "42" })).toEqual({ ...first, kind: "refreshed" });
    expect(store.list("telegram")).toMatchObject([{ id: "42", meta: { username: "ann", accountId: "default" } }]);
    const { code } = store.list("telegram")[0] ?? { code: "" };
    const seen: string[] = [];
    store.onApproved((s) => seen.push(s.senderId));
    expect(await store.approve("telegram", ` ${code.toLowerCase()} `)).toMatchObject({ senderId: "42", accountId: "default" });
    expect(await store.approve("telegram", code)).toBeUndefined();
    expect([store.allowFrom("telegram", "default"), store.allowFrom("telegram", "work"), store.allowFrom("discord", "default")]).toEqual([["42"], [], []]);
    const path = join(t.stateDir, "credentials", "telegram-default-allowFrom.json");
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ version: 1, allowFrom: ["42"] });
    expect([(await stat(path)).mode & 0o777, seen]).toEqual([0o600, ["42"]]);
    expect(store.allowFrom("telegram", "default")).toBe(store.allowFrom("telegram", "default"));
  });

  it("beyond the third of an account get no answer; a code dies after an hour", async () => {
    await using t = await setup();
    const store = createChannelPairingStore(t);
    const kinds = await Promise.all(["1", "2", "3", "4"].map((id) => store.request(key, { id })));
    expect(kinds.map((k) => k.kind)).toEqual(["created", "created", "created", "full"]);
    expect((await store.request({ ...key, accountId: "work" }, { id: "4" })).kind).toBe("created");
    const { code } = store.list("telegram", "default")[0] ?? { code: "" };
    t.now.ms += 60 * 60_000;
    expect(await store.approve("telegram", code)).toBeUndefined();
    expect((await store.request(key, { id: "4" })).kind).toBe("created");
  });

  it("in the old file without an account are admitted to the default account; * never is", async () => {
    await using t = await setup();
    await mkdir(join(t.stateDir, "credentials"), { recursive: true });
    await writeFile(join(t.stateDir, "credentials", "telegram-allowFrom.json"), JSON.stringify({ version: 1, allowFrom: ["7", "*", 8] }));
    const store = createChannelPairingStore(t);
    expect([store.allowFrom("telegram", "default"), store.allowFrom("telegram", "work")]).toEqual([["7", "8"], []]);
    await expect(store.addAllowFrom(key, "*")).rejects.toThrow(RangeError);
    await store.removeAllowFrom(key, "7");
    expect(store.allowFrom("telegram", "default")).toEqual(["8"]);
  });

  it("approved by another process at the same moment are all kept", async () => {
    await using t = await setup();
    const store = createChannelPairingStore(t);
    const script = `
      const { createChannelPairingStore } = await import(${JSON.stringify(new URL("./index.ts", import.meta.url).href)});
      const { silentLogger } = await import(${JSON.stringify(new URL("../infra/log.ts", import.meta.url).href)});
      const store = createChannelPairingStore({ stateDir: process.argv[1], clock: { now: Date.now }, log: silentLogger });
      for (let i = 0; i < 20; i++) await store.addAllowFrom({ channel: "telegram", accountId: "default" }, "cli" + i);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script, t.stateDir], { stdio: "inherit" });
    const exit = once(child, "exit");
    for (let i = 0; i < 20; i++) await store.addAllowFrom(key, `gw${i}`);
    expect(await exit).toEqual([0, null]);
    expect(store.allowFrom("telegram", "default")).toHaveLength(40);
    const path = join(t.stateDir, "credentials", "telegram-default-allowFrom.json");
    await utimes(path, new Date(), new Date());
    expect(store.allowFrom("telegram", "default")).toHaveLength(40);
  });

  it("of a channel with a hostile name stay inside the folder", async () => {
    await using t = await setup();
    const store = createChannelPairingStore(t);
    await store.addAllowFrom({ channel: "../../etc", accountId: "a/../b" }, "1");
    expect(await readdir(t.stateDir)).toEqual(["credentials"]);
    expect(() => store.allowFrom("", "a")).toThrow(RangeError);
  });
});
