import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { ModelsProviderConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { AuthProfiles, ProfileCandidate } from "../auth-profiles/index.ts";
import { isHomeUrl } from "./compat.ts";
import { awsVariable, envNamesOf, isTokenVariable } from "./provider-table.ts";
import { ModelError, type AuthMode } from "./types.ts";

export interface ResolvedKey {
  readonly authMode: AuthMode;
  readonly apiKey: string | undefined;
  readonly profileId: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface KeyRequest {
  readonly provider: string;
  readonly modelId: string;
  readonly agentId: string;
  /** Chosen by a person: no other is tried. */
  readonly pinned: string | undefined;
  /** Used while it does not rest. */
  readonly preferred: string | undefined;
  /** The one that follows it in the order comes first. */
  readonly after: string | undefined;
  /** Not the first choice of the run: a resting provider is left alone. */
  readonly asFallback: boolean;
  readonly providerConfig: ModelsProviderConfig | undefined;
  readonly baseUrl: string;
}

export interface KeyWorld {
  readonly profiles: AuthProfiles;
  readonly env: (name: string) => string | undefined;
  readonly now: () => number;
  /** When a resting provider was last tried as a fallback; ms since the epoch. */
  readonly lastProbes: Map<string, number>;
}

/** Providers that share their stored logins. */
const PROFILE_RELATIVES: Readonly<Record<string, string>> = {
  "volcengine-plan": "volcengine", "byteplus-plan": "byteplus", moonshot: "moonshotai", moonshotai: "moonshot", "opencode-go": "opencode",
};
/** Clients insist on a key; it is no secret. */
export const LOCAL_KEY = "openclaw-local";
const COMMAND_TIMEOUT_MS = 10_000;
/** A resting fallback is tried again this shortly before its pause ends. Source: spec agent-pipeline §5.7. */
const PROBE_BEFORE_END_MS = 120_000;
const PROBE_EVERY_MS = 30_000;

/** The profiles of a provider, or of the one it shares logins with. */
export async function profileCandidates(profiles: AuthProfiles, agentId: string, provider: string, modelId: string): ReturnType<AuthProfiles["candidates"]> {
  const own = await profiles.candidates(agentId, provider, modelId);
  const relative = PROFILE_RELATIVES[provider];
  return own.length > 0 || relative === undefined ? own : profiles.candidates(agentId, relative, modelId);
}

/** The variable that holds a provider's key, if one is set. */
export function envKeyName(provider: string, env: KeyWorld["env"], only?: readonly string[]): string | undefined {
  return (only ?? envNamesOf(provider)).find((name) => Boolean(env(name)?.trim()));
}

/** `models.providers.<p>.apiKey`: a variable's name, or the key itself; `!command` counts as a key. */
export function configKey(cfg: ModelsProviderConfig | undefined, env: KeyWorld["env"]): string | undefined {
  const text = cfg?.apiKey?.trim();
  if (!text || /^\$\{[A-Z_][A-Z0-9_]*\}$/.test(text)) return undefined;
  return (/^[A-Z][A-Z0-9_]*$/.test(text) ? env(text)?.trim() : undefined) || text;
}

/** Whether a key is there without asking a profile or a command. */
export function hasPlainKey(provider: string, cfg: ModelsProviderConfig | undefined, env: KeyWorld["env"]): boolean {
  if (envKeyName(provider, env) !== undefined || configKey(cfg, env) !== undefined || isHomeUrl(cfg?.baseUrl) || hasAuthHeader(cfg)) return true;
  return (provider === "amazon-bedrock" || cfg?.auth === "aws-sdk") && awsVariable(env) !== undefined;
}

/**
 * Order: pinned profile, `auth: "aws-sdk"`, profiles, environment, config, AWS credentials, none on the person's own network. Source: spec providers §1.
 * @throws ModelError no-key, or unavailable when all profiles of a fallback rest
 */
export async function resolveKey(request: KeyRequest, world: KeyWorld): Promise<ResolvedKey> {
  const { provider, agentId, providerConfig: cfg } = request;
  if (request.pinned !== undefined) return fromProfile(request, world, request.pinned);
  if (cfg?.auth === "aws-sdk") return plain("aws-sdk", undefined);
  const profile = await pickProfile(request, world);
  if (profile.kind === "use") return profile.key;
  const envName = envKeyName(provider, world.env);
  if (envName !== undefined) {
    const key = world.env(envName)?.trim();
    return plain(isTokenVariable(envName) || key?.startsWith("sk-ant-oat") ? "token" : "api-key", key);
  }
  const configured = configKey(cfg, world.env);
  if (configured !== undefined) return plain(cfg?.auth === "oauth" || cfg?.auth === "token" ? cfg.auth : "api-key", configured.startsWith("!") ? await keyFromCommand(provider, configured.slice(1)) : configured);
  if (provider === "amazon-bedrock" && awsVariable(world.env) !== undefined) return plain("aws-sdk", undefined);
  if (provider === "google-vertex" && world.env("GOOGLE_CLOUD_LOCATION")) return plain("none", undefined);
  if (isHomeUrl(request.baseUrl) || hasAuthHeader(cfg)) return plain("none", LOCAL_KEY);
  if (profile.kind === "failed") throw new ModelError("no-key", profile.message, `Log in again: openclaw models auth login --provider ${provider}`);
  throw noKey(provider, agentId);
}

/** Some gateways want the key in a header of their own. */
const hasAuthHeader = (cfg: ModelsProviderConfig | undefined): boolean => Object.keys(cfg?.headers ?? {}).some((name) => /^(authorization|x-api-key|api-key|cf-aig-authorization)$/i.test(name));

const plain = (authMode: AuthMode, apiKey: string | undefined): ResolvedKey => ({ authMode, apiKey, profileId: undefined, metadata: {} });

type Picked = { readonly kind: "use"; readonly key: ResolvedKey } | { readonly kind: "none" } | { readonly kind: "failed"; readonly message: string };

async function pickProfile(request: KeyRequest, world: KeyWorld): Promise<Picked> {
  const candidates = startAfter(await profileCandidates(world.profiles, request.agentId, request.provider, request.modelId), request.after);
  const preferred = candidates.find((candidate) => candidate.id === request.preferred && candidate.restsUntil === 0);
  const ordered = preferred ? [preferred, ...candidates.filter((candidate) => candidate !== preferred)] : candidates;
  const [first] = ordered;
  if (first && request.asFallback && first.restsUntil > 0) probeOrRefuse(request.provider, first, world);
  let message: string | undefined;
  for (const candidate of ordered) {
    try {
      return { kind: "use", key: await fromProfile(request, world, candidate.id) };
    } catch (err) {
      message ??= errorText(err);
    }
  }
  return message === undefined ? { kind: "none" } : { kind: "failed", message };
}

/** Those that may be used now, turned so that the one behind `id` leads; resting ones stay last. */
function startAfter(candidates: readonly ProfileCandidate[], id: string | undefined): readonly ProfileCandidate[] {
  const awake = candidates.filter((candidate) => candidate.restsUntil === 0);
  const start = awake.findIndex((candidate) => candidate.id === id) + 1;
  return [...awake.slice(start), ...awake.slice(0, start), ...candidates.filter((candidate) => candidate.restsUntil > 0)];
}

/** Near the end of a pause for load, one try each 30 s. @throws ModelError unavailable */
function probeOrRefuse(provider: string, first: ProfileCandidate, world: KeyWorld): void {
  const now = world.now();
  const isNear = !first.disabled && first.restsUntil - now <= PROBE_BEFORE_END_MS;
  if (isNear && now - (world.lastProbes.get(provider) ?? 0) >= PROBE_EVERY_MS) {
    world.lastProbes.set(provider, now);
    return;
  }
  throw new ModelError("unavailable", `All keys of ${provider} are resting for ${Math.ceil((first.restsUntil - now) / 60_000)} more min.`, "Wait, or add another auth profile.");
}

async function fromProfile(request: KeyRequest, world: KeyWorld, profileId: string): Promise<ResolvedKey> {
  try {
    const credential = await world.profiles.credential(request.agentId, profileId);
    if (credential.key === "") throw new Error(`The auth profile "${profileId}" holds no key.`);
    const authMode: AuthMode = credential.type === "api_key" ? "api-key" : credential.type;
    return { authMode, apiKey: credential.key, profileId, metadata: credential.metadata };
  } catch (err) {
    throw new ModelError("no-key", errorText(err), `See openclaw models status, or log in: openclaw models auth login --provider ${request.provider}`, { cause: err });
  }
}

function noKey(provider: string, agentId: string): ModelError {
  const names = envNamesOf(provider);
  const variable = names.length > 0 ? `Set ${names.slice(0, 2).join(" or ")}` : `Set models.providers.${provider}.apiKey in openclaw.json`;
  return new ModelError(
    "no-key", `No API key found for provider "${provider}" (agent ${agentId}).`,
    `${variable}, or run: openclaw models auth paste-token --provider ${provider}`,
  );
}

async function keyFromCommand(provider: string, command: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", command], { timeout: COMMAND_TIMEOUT_MS, maxBuffer: 64 * 1024 });
    const key = stdout.trim();
    if (key === "") throw new Error("it printed nothing");
    return key;
  } catch (err) {
    // The command's text may hold secrets: only its fate is told.
    throw new ModelError("no-key", `The command in models.providers.${provider}.apiKey gave no key.`, "Run it in a shell and correct it.", { cause: err });
  }
}
