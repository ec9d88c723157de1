import { lookup as dnsLookup } from "node:dns/promises";
import { isIP } from "node:net";
import { basename } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { OpenClawConfig } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import type { Logger } from "../../infra/log.ts";
import { endsSoonAfter } from "../../infra/overdue.ts";
import { isPublicAddress } from "../../infra/public-address.ts";
import { truncateText } from "../../infra/text/index.ts";
import { wrapExternalContent } from "../../security/index.ts";
import { isInScope, type MessagePlace } from "../message-scope.ts";
import { fillPlaceholders, runProgram } from "../run-program.ts";
import { findLinks } from "./find-links.ts";

type LinkSettings = NonNullable<NonNullable<OpenClawConfig["tools"]>["links"]>;
type LinkProgram = NonNullable<LinkSettings["models"]>[number];

export interface LinkUnderstandingDeps {
  readonly config: () => OpenClawConfig;
  readonly log: Logger;
  /** Addresses of a name. */
  readonly lookup?: ((host: string) => Promise<readonly string[]>) | undefined;
}

export interface LinkUnderstanding {
  /** What the configured programs say of the links in `text`, a marked block for each. Never rejects. */
  understand(text: string, place: MessagePlace, signal: AbortSignal): Promise<string[]>;
}

const DEFAULT_MAX_LINKS = 3;
const DEFAULT_TIMEOUT_SEC = 30;
/** The resolver of the system has its own patience, which is longer than a person's. */
const LOOKUP_MS = 10_000;
/** A page must not push the conversation out of the model's sight. */
const MAX_CHARS = 20_000;

/**
 * Links of a message put into words by programs of `tools.links.models`, tried in order until one says something. Addresses
 * outside the public internet are passed over; what a page says is marked as foreign. Where a program is led on to is its own
 * affair: it fetches by itself. Source: spec tools-and-automation-part2 §10 (Links).
 */
export function createLinkUnderstanding({ config, log, lookup = lookupAll }: LinkUnderstandingDeps): LinkUnderstanding {
  async function isPublic(link: string, signal: AbortSignal): Promise<boolean> {
    const host = new URL(link).hostname.replace(/^\[|\]$/g, "");
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LOOKUP_MS)]);
    const addresses = isIP(host) ? [host] : await endsSoonAfter(limit, lookup(host), 0, "no address in time").catch(() => []);
    return addresses.length > 0 && addresses.every(isPublicAddress);
  }

  async function wordsOf(link: string, programs: readonly LinkProgram[], settings: LinkSettings, signal: AbortSignal): Promise<string | undefined> {
    for (const { command, args = [], timeoutSeconds = settings.timeoutSeconds ?? DEFAULT_TIMEOUT_SEC } of programs) {
      try {
        const fill = fillPlaceholders({ LinkUrl: link });
        const text = readable(await runProgram(command, args.map(fill), { timeoutMs: timeoutSeconds * 1000, signal }));
        if (text !== "") return wrapExternalContent({ source: `Link ${link}`, text: truncateText(text, MAX_CHARS) });
      } catch (err) {
        if (signal.aborted) return undefined;
        log.warn("a link was not put into words", { host: new URL(link).hostname, by: basename(command), reason: errorText(err) });
      }
    }
    return undefined;
  }

  return {
    async understand(text, place, signal) {
      const settings = config().tools?.links;
      const programs = settings?.models ?? [];
      if (!settings || settings.enabled === false || programs.length === 0 || !isInScope(settings.scope, place)) return [];
      // Programs read addresses in ways of their own (`http://a\\@b/`): they get the spelling that was checked.
      const links = new Set(findLinks(text, settings.maxLinks ?? DEFAULT_MAX_LINKS).map((link) => new URL(link).href));
      const words = await Promise.all([...links].map(async (link) => ((await isPublic(link, signal)) ? wordsOf(link, programs, settings, signal) : undefined)));
      return words.filter((entry) => entry !== undefined);
    },
  };
}

const lookupAll = async (host: string): Promise<string[]> => (await dnsLookup(host, { all: true })).map(({ address }) => address);

const MAX_UNREADABLE_SHARE = 0.1;

/** The output as text without control characters. @throws Error when it is none (an image, another encoding than UTF-8) */
function readable(output: string): string {
  const unreadable = output.match(/[\0\uFFFD]/g)?.length ?? 0;
  if (unreadable > output.length * MAX_UNREADABLE_SHARE) throw new Error("the output is no text");
  return stripVTControlCharacters(output).replace(/\r\n?/g, "\n").replace(/[^\P{Cc}\n\t]/gu, "").trim();
}
