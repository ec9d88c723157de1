import type { OpenClawConfig } from "../config/index.ts";

type Section = Readonly<Record<string, unknown>>;

const record = (value: unknown): Section => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});

/** `channels.<id>` overlaid by the account. */
export function channelSection(cfg: OpenClawConfig, channel: string, accountId: string | undefined): Section {
  const section = record((cfg.channels as Section | undefined)?.[channel]);
  return { ...section, ...record(record(section["accounts"])[accountId ?? "default"]) };
}

/** An object inside a section; empty when there is none. */
export const subsection = (section: Section, key: string): Section => record(section[key]);
