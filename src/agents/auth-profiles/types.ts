/** `<agentDir>/auth-profiles.json`, as the reference writes it; fields not listed here are kept on rewrite. */
export interface AuthProfileStore {
  readonly version: number;
  readonly profiles: Readonly<Record<string, AuthProfile>>;
  /** Profile ids by provider; wins over `auth.order`. */
  readonly order?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly lastGood?: Readonly<Record<string, string>> | undefined;
  readonly usageStats?: Readonly<Record<string, ProfileUsage>> | undefined;
}

interface ProfileBase {
  readonly provider: string;
  readonly email?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface ApiKeyProfile extends ProfileBase {
  readonly type: "api_key";
  readonly key?: string | undefined;
}

export interface TokenProfile extends ProfileBase {
  readonly type: "token";
  readonly token?: string | undefined;
  /** ms since the epoch */
  readonly expires?: number | undefined;
}

export interface OAuthProfile extends ProfileBase {
  readonly type: "oauth";
  readonly access?: string | undefined;
  readonly refresh?: string | undefined;
  /** ms since the epoch */
  readonly expires?: number | undefined;
  readonly [extra: string]: unknown;
}

/** How a provider that Pi does not know renews its tokens and makes a key of them. */
export interface ProviderOAuth {
  /** The fields that changed. @throws when the person has to log in again */
  readonly refresh?: ((profile: OAuthProfile) => Promise<Readonly<Record<string, unknown>> & { readonly access: string }>) | undefined;
  readonly formatKey?: ((profile: OAuthProfile) => string) | undefined;
}

export type AuthProfile = ApiKeyProfile | TokenProfile | OAuthProfile;

export interface FailureCounter {
  readonly errorCount?: number | undefined;
  readonly cooldownUntil?: number | undefined;
  readonly lastFailureAt?: number | undefined;
}

/** Times in ms since the epoch. */
export interface ProfileUsage extends FailureCounter {
  readonly lastUsed?: number | undefined;
  readonly disabledUntil?: number | undefined;
  readonly disabledReason?: "billing" | "auth_permanent" | undefined;
  readonly failureCounts?: Readonly<Record<string, number>> | undefined;
  /** Rate limits hold for one model, not for the whole key. */
  readonly models?: Readonly<Record<string, FailureCounter>> | undefined;
}

/** Why a profile failed; other reasons say nothing about the profile. */
export type ProfileFailure = "auth" | "auth_permanent" | "billing" | "rate_limit";
