import { execFile } from "node:child_process";
import { isIP } from "node:net";
import type { TailscaleWhois } from "./auth.ts";

const TIMEOUT_MS = 5_000;

/** Asks the `tailscale` command; an absent command, a refusal or a strange answer all mean: not known. */
export function createTailscaleWhois(command = "tailscale"): TailscaleWhois {
  return (ip) =>
    new Promise((resolve) => {
      if (isIP(ip) === 0) return resolve(undefined);
      execFile(command, ["whois", "--json", ip], { timeout: TIMEOUT_MS, maxBuffer: 1 << 20 }, (err, stdout) => {
        resolve(err ? undefined : parseLogin(stdout));
      });
    });
}

function parseLogin(json: string): { login: string } | undefined {
  try {
    const answer: unknown = JSON.parse(json);
    if (typeof answer !== "object" || answer === null || !("UserProfile" in answer)) return undefined;
    const profile = answer.UserProfile;
    if (typeof profile !== "object" || profile === null || !("LoginName" in profile)) return undefined;
    return typeof profile.LoginName === "string" && profile.LoginName !== "" ? { login: profile.LoginName } : undefined;
  } catch {
    return undefined; // not JSON: the daemon did not answer
  }
}
