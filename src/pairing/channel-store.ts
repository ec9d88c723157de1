import { randomInt } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../infra/clock.ts";
import { createEmitter } from "../infra/emitter.ts";
import type { Logger } from "../infra/log.ts";
import { parseAllowFromFile, parsePairingFile } from "./channel-records.ts";
import type { ChannelPairingRequest, PairingFile } from "./channel-records.ts";
import { createJsonFile, createPathLock } from "./json-file.ts";
import type { JsonFile, PathLock } from "./json-file.ts";

export const PAIRING_CODE_TTL_MS = 60 * 60_000;
export const MAX_PENDING_PER_ACCOUNT = 3;
export const DEFAULT_ACCOUNT_ID = "default";
const CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_CHARS = 8;

export interface PairingKey {
  readonly channel: string;
  readonly accountId: string;
}

export type PairingOutcome =
  /** Tell the sender the code, once. */
  | { readonly kind: "created"; readonly code: string }
  /** Known already; say nothing. */
  | { readonly kind: "refreshed"; readonly code: string }
  /** Too many strangers wait on this account; say nothing. */
  | { readonly kind: "full" };

export interface ApprovedSender extends PairingKey {
  readonly senderId: string;
  readonly request: ChannelPairingRequest;
}

export interface ChannelPairingStore {
  /** Who was approved by pairing, never `*`. Synchronous, for the ingress gate; follows what the CLI writes. */
  allowFrom(channel: string, accountId: string): readonly string[];
  request(key: PairingKey, sender: { readonly id: string; readonly meta?: Readonly<Record<string, string>> | undefined }): Promise<PairingOutcome>;
  /** Live requests, oldest first. */
  list(channel: string, accountId?: string): readonly ChannelPairingRequest[];
  /** Moves the sender of `code` (any case) to the account's allow list; undefined when no live request has it. */
  approve(channel: string, code: string, accountId?: string): Promise<ApprovedSender | undefined>;
  reject(channel: string, code: string, accountId?: string): Promise<ChannelPairingRequest | undefined>;
  /** @throws RangeError for `*` or a blank entry */
  addAllowFrom(key: PairingKey, entry: string): Promise<readonly string[]>;
  removeAllowFrom(key: PairingKey, entry: string): Promise<readonly string[]>;
  onApproved(listener: (sender: ApprovedSender) => void): () => void;
}

export interface ChannelPairingStoreDeps {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lock?: PathLock | undefined;
}

/** Pairing of chat senders, on `<state>/credentials/` (spec: channels §2.3). */
export function createChannelPairingStore(deps: ChannelPairingStoreDeps): ChannelPairingStore {
  const lock = deps.lock ?? createPathLock();
  const dir = join(deps.stateDir, "credentials");
  const approved = createEmitter<ApprovedSender>((err) => deps.log.error("pairing listener failed", { err }));

  /** One view per file; the names come from config and channels, so there are few. */
  const views = <T>(empty: T, parse: (value: unknown) => T, serialize?: (content: T) => unknown): ((name: string) => JsonFile<T>) => {
    const open = new Map<string, JsonFile<T>>();
    return (name) => {
      const known = open.get(name);
      if (known) return known;
      const view = createJsonFile<T>({ path: join(dir, name), empty, parse, serialize, lock, log: deps.log });
      open.set(name, view);
      return view;
    };
  };
  const allowFile = views<readonly string[]>([], parseAllowFromFile, (allowFrom) => ({ version: 1, allowFrom }));
  const pairingFile = views<PairingFile>({ version: 1, requests: [] }, parsePairingFile);
  const scoped = (channel: string, accountId: string) => allowFile(`${fileNamePart(channel)}-${fileNamePart(accountId)}-allowFrom.json`);
  const unscoped = (channel: string) => allowFile(`${fileNamePart(channel)}-allowFrom.json`);
  const pairing = (channel: string) => pairingFile(`${fileNamePart(channel)}-pairing.json`);

  const isLive = (request: ChannelPairingRequest): boolean => Date.parse(request.createdAt) > deps.clock.now() - PAIRING_CODE_TTL_MS;
  const unions = new Map<string, { a: readonly string[]; b: readonly string[]; both: readonly string[] }>();

  const takeByCode = async (channel: string, code: string, accountId: string | undefined): Promise<ChannelPairingRequest | undefined> => {
    const wanted = code.trim().toUpperCase();
    let taken: ChannelPairingRequest | undefined;
    await pairing(channel).update((file) => {
      taken = file.requests.find((r) => isLive(r) && r.code === wanted && (accountId === undefined || accountOf(r) === accountId));
      return taken ? { ...file, requests: file.requests.filter((r) => r !== taken && isLive(r)) } : file;
    });
    return taken;
  };
  const addAllowFrom = async ({ channel, accountId }: PairingKey, entry: string): Promise<readonly string[]> => {
    const id = entry.trim();
    if (id === "" || id === "*") {
      throw new RangeError(`"${id}" cannot be stored as a paired sender; to admit everyone set channels.${channel}.dmPolicy to "open"`);
    }
    return scoped(channel, accountId).update((current) => (current.includes(id) ? current : [...current, id]));
  };

  return {
    addAllowFrom,
    onApproved: (listener) => approved.on(listener),

    allowFrom(channel, accountId) {
      const own = scoped(channel, accountId).read();
      // The old file without an account was written for the default account; it must not open the others.
      if (accountId !== DEFAULT_ACCOUNT_ID) return own;
      const old = unscoped(channel).read();
      if (old.length === 0) return own;
      const cached = unions.get(channel);
      if (cached?.a === own && cached.b === old) return cached.both;
      const both = [...new Set([...own, ...old])];
      unions.set(channel, { a: own, b: old, both });
      return both;
    },

    async request({ channel, accountId }, sender) {
      const now = new Date(deps.clock.now()).toISOString();
      let outcome: PairingOutcome = { kind: "full" };
      await pairing(channel).update((file) => {
        const live = file.requests.filter(isLive);
        const known = live.find((r) => r.id === sender.id && accountOf(r) === accountId);
        if (known) {
          outcome = { kind: "refreshed", code: known.code };
          const requests = live.map((r) => (r === known ? { ...r, lastSeenAt: now, meta: { ...r.meta, ...sender.meta, accountId } } : r));
          return { ...file, requests };
        }
        if (live.filter((r) => accountOf(r) === accountId).length >= MAX_PENDING_PER_ACCOUNT) return file;
        const code = freshCode(new Set(live.map((r) => r.code)));
        outcome = { kind: "created", code };
        const request = { id: sender.id, code, createdAt: now, lastSeenAt: now, meta: { ...sender.meta, accountId } };
        return { ...file, requests: [...live, request] };
      });
      return outcome;
    },

    list: (channel, accountId) =>
      pairing(channel)
        .read()
        .requests.filter((r) => isLive(r) && (accountId === undefined || accountOf(r) === accountId)),

    async approve(channel, code, accountId) {
      const request = await takeByCode(channel, code, accountId);
      if (!request) return undefined;
      const sender: ApprovedSender = { channel, accountId: accountOf(request), senderId: request.id, request };
      await addAllowFrom(sender, request.id);
      approved.emit(sender);
      return sender;
    },

    reject: (channel, code, accountId) => takeByCode(channel, code, accountId),

    removeAllowFrom: async ({ channel, accountId }, entry) => {
      const drop = (current: readonly string[]): readonly string[] =>
        current.includes(entry) ? current.filter((id) => id !== entry) : current;
      if (accountId === DEFAULT_ACCOUNT_ID) await unscoped(channel).update(drop);
      return scoped(channel, accountId).update(drop);
    },
  };
}

const accountOf = (request: ChannelPairingRequest): string => request.meta?.["accountId"] ?? DEFAULT_ACCOUNT_ID;

function freshCode(taken: ReadonlySet<string>): string {
  for (;;) {
    const code = Array.from({ length: CODE_CHARS }, () => CODE_ALPHABET[randomInt(CODE_ALPHABET.length)]).join("");
    if (!taken.has(code)) return code;
  }
}

/** A name from config as part of a file name: no separators, no climbing, lower case. @throws RangeError when nothing is left */
function fileNamePart(name: string): string {
  const safe = name.trim().toLowerCase().replace(/[^a-z0-9._-]/g, "_").replaceAll("..", "_");
  if (safe === "" || safe.length > 120) throw new RangeError("a channel or account id must have 1 to 120 characters");
  return safe;
}
