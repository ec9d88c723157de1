import { join } from "node:path";
import type { BrowserConfig } from "../config/index.ts";

/** How one profile is opened. */
export type BrowserProfile =
  | { readonly kind: "managed"; readonly name: string; readonly userDataDir: string }
  | { readonly kind: "remote"; readonly name: string; readonly cdpUrl: string };

export class BrowserError extends Error {
  override readonly name = "BrowserError";
}

/** What the browser says of an action; words of the page may stand in it. */
export class PageError extends BrowserError {}

const MANAGED = "openclaw";
/** Profile of the reference's Chrome extension; without one it is the managed profile. */
const RELAY = "chrome";
const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

export function profileNames(config: BrowserConfig | undefined): string[] {
  return [...new Set([MANAGED, ...Object.keys(config?.profiles ?? {}).filter((name) => name !== RELAY)])];
}

/** @throws BrowserError for a name that is none, or a profile that cannot be opened here */
export function resolveProfile(config: BrowserConfig | undefined, stateDir: string, wanted: string | undefined): BrowserProfile {
  const asked = wanted?.trim() || config?.defaultProfile?.trim() || RELAY;
  if (!NAME.test(asked)) throw new BrowserError(`"${asked.slice(0, 80)}" is no profile name: small letters, digits and -, at most 64.`);
  const own = config?.profiles?.[asked];
  const isRelay = asked === RELAY && (own === undefined || own.driver === "extension");
  const name = isRelay ? MANAGED : asked;
  if (!isRelay && own === undefined && name !== MANAGED) throw new BrowserError(`There is no browser profile "${name}". Known: ${profileNames(config).join(", ")}.`);
  if (own?.driver === "extension" && !isRelay) throw new BrowserError(`The profile "${name}" needs the browser extension, which this gateway does not speak with. Use ${MANAGED}.`);
  const cdpUrl = own?.cdpUrl ?? (own?.cdpPort !== undefined && config?.attachOnly ? `http://127.0.0.1:${own.cdpPort}` : undefined) ?? (name === MANAGED ? config?.cdpUrl : undefined);
  if (cdpUrl) return { kind: "remote", name, cdpUrl };
  if (config?.attachOnly) throw new BrowserError(`browser.attachOnly is set, but the profile "${name}" has no cdpUrl to attach to.`);
  return { kind: "managed", name, userDataDir: join(stateDir, "browser", name, "user-data") };
}
