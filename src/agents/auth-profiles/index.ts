export { createAuthProfiles, type AuthProfiles, type AuthProfilesOptions, type ProfileCandidate, type ProfileCredential } from "./profiles.ts";
export type { AuthProfile, AuthProfileStore, ProfileFailure, ProfileUsage, ProviderOAuth } from "./types.ts";
