export interface CommandAuthorizer {
  /** There is a list at all. */
  readonly configured: boolean;
  readonly allowed: boolean;
}

export type ModeWhenAccessGroupsOff = "allow" | "deny" | "configured";

/** With access groups: some list that is configured admits the sender. Without: as the mode says, by default everybody. */
export function resolveCommandAuthorizedFromAuthorizers(query: {
  readonly useAccessGroups: boolean;
  readonly authorizers: readonly CommandAuthorizer[];
  readonly modeWhenAccessGroupsOff?: ModeWhenAccessGroupsOff | undefined;
}): boolean {
  const admitted = query.authorizers.some((list) => list.configured && list.allowed);
  if (query.useAccessGroups) return admitted;
  switch (query.modeWhenAccessGroupsOff ?? "allow") {
    case "allow":
      return true;
    case "deny":
      return false;
    case "configured":
      return admitted || !query.authorizers.some((list) => list.configured);
  }
}
