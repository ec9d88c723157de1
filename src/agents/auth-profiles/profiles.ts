import type { OpenClawConfig } from "../../config/index.ts";
import type { Clock } from "../../infra/clock.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import { DEFAULT_AGENT_ID } from "../../routing/index.ts";
import { afterFailure, afterSuccess, hasFailures, restsUntil } from "./cooldown.ts";
import { oauthKey, refreshOAuth } from "./oauth.ts";
import { createProfileFile, type ProfileFile } from "./store.ts";
import type { AuthProfile, AuthProfileStore, OAuthProfile, ProfileFailure, ProfileUsage, ProviderOAuth } from "./types.ts";

export interface AuthProfilesOptions {
  readonly config: () => OpenClawConfig;
  readonly agentDir: (agentId: string) => string;
  readonly normalizeProvider: (provider: string) => string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fetch: typeof fetch;
  /** For providers that plugins bring. */
  readonly oauth?: ((provider: string) => ProviderOAuth | undefined) | undefined;
}

export interface ProfileCandidate {
  readonly id: string;
  readonly type: AuthProfile["type"];
  /** ms since the epoch; 0 = usable now. */
  readonly restsUntil: number;
  /** The pause came from refused credentials or an unpaid bill, not from load. */
  readonly disabled: boolean;
}

export interface ProfileCredential {
  readonly id: string;
  readonly type: AuthProfile["type"];
  readonly key: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The stored logins of all agents. An agent without a profile of its own uses the main agent's. */
export interface AuthProfiles {
  /** Usable profiles of a provider in the order of use; resting ones last, the soonest first. */
  candidates(agentId: string, provider: string, modelId: string): Promise<ProfileCandidate[]>;
  has(agentId: string, profileId: string): Promise<boolean>;
  /** Providers that have a stored profile, usable or not. */
  providers(agentId: string): Promise<ReadonlySet<string>>;
  /** @throws Error with the reason when the profile is missing, expired or cannot be renewed */
  credential(agentId: string, profileId: string): Promise<ProfileCredential>;
  /** The agent's own file as it is; for status and logins. */
  read(agentId: string): Promise<AuthProfileStore>;
  /** Adds or replaces a profile and forgets its pauses; `undefined` removes it. @throws when the file is damaged or locked */
  save(agentId: string, profileId: string, profile: AuthProfile | undefined): Promise<void>;
  /** `undefined` goes back to the automatic order. @throws when the file is damaged or locked */
  setOrder(agentId: string, provider: string, order: readonly string[] | undefined): Promise<void>;
  reportSuccess(agentId: string, profileId: string, modelId: string): Promise<void>;
  reportFailure(agentId: string, profileId: string, modelId: string, reason: ProfileFailure): Promise<void>;
}

/** Tokens are renewed this long before they end. */
const RENEW_EARLY_MS = 60_000;
/** `lastUsed` alone is not worth a write per message. */
const LAST_USED_WRITE_MS = 60_000;
const TYPE_RANK: Readonly<Record<AuthProfile["type"], number>> = { oauth: 0, token: 1, api_key: 2 };
/** Its keys stand for many upstreams; one of them failing says nothing about the key. */
const NEVER_RESTS = new Set(["openrouter"]);

export function createAuthProfiles(options: AuthProfilesOptions): AuthProfiles {
  const { config, clock, log } = options;
  const files = new Map<string, ProfileFile>();
  const lastUsed = new Map<string, number>();

  function fileOf(agentId: string): ProfileFile {
    const dir = options.agentDir(agentId);
    let file = files.get(dir);
    if (!file) files.set(dir, (file = createProfileFile(dir, log)));
    return file;
  }

  async function stores(agentId: string): Promise<{ file: ProfileFile; store: AuthProfileStore }[]> {
    const ids = agentId === DEFAULT_AGENT_ID ? [agentId] : [agentId, DEFAULT_AGENT_ID];
    return Promise.all(ids.map(async (id) => ({ file: fileOf(id), store: await fileOf(id).read() })));
  }

  async function locate(agentId: string, profileId: string): Promise<{ file: ProfileFile; store: AuthProfileStore; profile: AuthProfile } | undefined> {
    for (const { file, store } of await stores(agentId)) {
      const profile = Object.hasOwn(store.profiles, profileId) ? store.profiles[profileId] : undefined;
      if (profile) return { file, store, profile };
    }
    return undefined;
  }

  function isUsable(profileId: string, profile: AuthProfile, provider: string): boolean {
    if (options.normalizeProvider(profile.provider) !== provider) return false;
    const declared = config().auth?.profiles?.[profileId];
    if (declared?.provider !== undefined && options.normalizeProvider(declared.provider) !== provider) return false;
    if (declared?.mode !== undefined && declared.mode !== profile.type && !(declared.mode === "oauth" && profile.type === "token")) return false;
    switch (profile.type) {
      case "api_key":
        return Boolean(profile.key?.trim());
      case "token":
        return Boolean(profile.token?.trim()) && (profile.expires === undefined || profile.expires <= 0 || profile.expires > clock.now());
      case "oauth":
        return Boolean(profile.access?.trim() || profile.refresh?.trim());
    }
  }

  function explicitOrder(all: readonly AuthProfileStore[], provider: string): readonly string[] | undefined {
    const byProvider = (order: Readonly<Record<string, readonly string[]>> | undefined): readonly string[] | undefined =>
      Object.entries(order ?? {}).find(([key]) => options.normalizeProvider(key) === provider)?.[1];
    for (const store of all) {
      const order = byProvider(store.order);
      if (order) return order;
    }
    return byProvider(config().auth?.order);
  }

  async function candidates(agentId: string, provider: string, modelId: string): Promise<ProfileCandidate[]> {
    const all = (await stores(agentId)).map(({ store }) => store);
    const profiles = new Map<string, { profile: AuthProfile; usage: ProfileUsage | undefined }>();
    for (const store of all) {
      for (const [id, profile] of Object.entries(store.profiles)) if (!profiles.has(id)) profiles.set(id, { profile, usage: store.usageStats?.[id] });
    }
    const explicit = explicitOrder(all, provider);
    const declared = Object.keys(config().auth?.profiles ?? {}).filter((id) => options.normalizeProvider(config().auth?.profiles?.[id]?.provider ?? "") === provider);
    const stored = [...profiles].filter(([id, { profile }]) => isUsable(id, profile, provider)).map(([id]) => id);
    const chosen = [...new Set(explicit ?? (declared.some((id) => stored.includes(id)) ? declared : stored))].filter((id) => stored.includes(id));
    const now = clock.now();
    const rows = chosen.map((id, index) => {
      const entry = profiles.get(id);
      const usage = entry?.usage;
      return {
        id, index, type: entry?.profile.type ?? "api_key", used: lastUsed.get(`${agentId}|${id}`) ?? usage?.lastUsed ?? 0,
        restsUntil: NEVER_RESTS.has(provider) ? 0 : restsUntil(usage, modelId, now),
        disabled: (usage?.disabledUntil ?? 0) > now || (usage?.cooldownUntil ?? 0) > now,
      };
    });
    rows.sort((a, b) => {
      if ((a.restsUntil === 0) !== (b.restsUntil === 0)) return a.restsUntil === 0 ? -1 : 1;
      if (a.restsUntil !== b.restsUntil) return a.restsUntil - b.restsUntil;
      return explicit ? a.index - b.index : TYPE_RANK[a.type] - TYPE_RANK[b.type] || a.used - b.used || a.index - b.index;
    });
    return rows.map(({ id, type, restsUntil: until, disabled }) => ({ id, type, restsUntil: until, disabled }));
  }

  /** Only one renewal at a time, also between processes: a refresh token works once. */
  async function renewed(file: ProfileFile, profileId: string): Promise<AuthProfile> {
    return file.update(async (store) => {
      const profile = store.profiles[profileId];
      if (profile?.type !== "oauth") throw new Error(`The profile ${profileId} is gone.`);
      if (!mustRenew(profile.expires, profile.access)) return { value: profile };
      const provider = options.normalizeProvider(profile.provider);
      const token = (await options.oauth?.(provider)?.refresh?.(profile)) ?? (await refreshOAuth(provider, profile, options.fetch, clock.now()));
      const next: AuthProfile = { ...profile, ...token, type: "oauth", provider: profile.provider };
      return { store: { ...store, profiles: { ...store.profiles, [profileId]: next } }, value: next };
    });
  }

  const keyOf = async (provider: string, profile: OAuthProfile): Promise<string> => options.oauth?.(provider)?.formatKey?.(profile) ?? (await oauthKey(provider, profile));

  const mustRenew = (expires: number | undefined, access: string | undefined): boolean => !access || (expires !== undefined && expires > 0 && expires - RENEW_EARLY_MS <= clock.now());

  async function setUsage(file: ProfileFile, profileId: string, change: (usage: ProfileUsage) => ProfileUsage): Promise<void> {
    try {
      await file.update(async (store) => {
        const before = store.usageStats?.[profileId] ?? {};
        const after = change(before);
        return { value: undefined, store: after === before ? undefined : { ...store, usageStats: { ...store.usageStats, [profileId]: after } } };
      });
    } catch (err) {
      log.warn("use of an auth profile was not recorded", { profileId, error: errorText(err) });
    }
  }

  return {
    candidates,
    async has(agentId, profileId) {
      return (await locate(agentId, profileId)) !== undefined;
    },
    async providers(agentId) {
      return new Set((await stores(agentId)).flatMap(({ store }) => Object.values(store.profiles).map((profile) => options.normalizeProvider(profile.provider))));
    },
    read: (agentId) => fileOf(agentId).read(),
    save: (agentId, profileId, profile) =>
      fileOf(agentId).update(async (store) => {
        const profiles = { ...store.profiles };
        const usageStats = { ...store.usageStats };
        delete profiles[profileId];
        delete usageStats[profileId];
        if (profile) profiles[profileId] = profile;
        return { store: { ...store, profiles, usageStats }, value: undefined };
      }),
    setOrder: (agentId, provider, order) =>
      fileOf(agentId).update(async (store) => {
        const orders = { ...store.order };
        delete orders[provider];
        if (order) orders[provider] = order;
        return { store: { ...store, order: orders }, value: undefined };
      }),
    async credential(agentId, profileId) {
      const found = await locate(agentId, profileId);
      if (!found) throw new Error(`There is no auth profile "${profileId}".`);
      const { file } = found;
      let { profile } = found;
      const metadata = profile.metadata ?? {};
      switch (profile.type) {
        case "api_key":
          return { id: profileId, type: "api_key", key: profile.key?.trim() ?? "", metadata };
        case "token":
          return { id: profileId, type: "token", key: profile.token?.trim() ?? "", metadata };
        case "oauth":
          if (mustRenew(profile.expires, profile.access)) profile = await renewed(file, profileId);
          if (profile.type !== "oauth") throw new Error(`The profile ${profileId} has changed; try again.`);
          return { id: profileId, type: "oauth", key: await keyOf(options.normalizeProvider(profile.provider), profile), metadata };
      }
    },
    async reportSuccess(agentId, profileId, modelId) {
      const now = clock.now();
      lastUsed.set(`${agentId}|${profileId}`, now);
      const found = await locate(agentId, profileId);
      if (!found) return;
      const usage = found.store.usageStats?.[profileId];
      if (hasFailures(usage, modelId) || now - (usage?.lastUsed ?? 0) > LAST_USED_WRITE_MS) await setUsage(found.file, profileId, (before) => afterSuccess(before, modelId, now));
    },
    async reportFailure(agentId, profileId, modelId, reason) {
      const found = await locate(agentId, profileId);
      if (!found) return;
      const provider = options.normalizeProvider(found.profile.provider);
      if (NEVER_RESTS.has(provider)) return;
      await setUsage(found.file, profileId, (before) => afterFailure(before, { reason, provider, modelId, nowMs: clock.now(), config: config() }));
    },
  };
}
