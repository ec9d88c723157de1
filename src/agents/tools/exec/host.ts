import { asAsk, asSecurity, stricterAsk, stricterSecurity, type ExecAsk, type ExecSecurity } from "../../exec-approvals/index.ts";
import { optionalString } from "../arguments.ts";

export interface HostSettings {
  readonly host?: "sandbox" | "gateway" | "node" | undefined;
  readonly security?: ExecSecurity | undefined;
  readonly ask?: ExecAsk | undefined;
  readonly node?: string | undefined;
}

export type HostChoice =
  | { readonly kind: "refused"; readonly text: string }
  /** In the session's sandbox, without questions. */
  | { readonly kind: "sandbox" }
  /** No host was chosen and there is no sandbox: the gateway host, without questions. */
  | { readonly kind: "open" }
  /** The gateway host, under the modes that configuration and call agree on. */
  | { readonly kind: "gated"; readonly security: ExecSecurity; readonly ask: ExecAsk };

/** Modes of an explicit gateway host that names none. Source: spec tools-and-automation §3.1. */
export const GATED_DEFAULTS: { readonly security: ExecSecurity; readonly ask: ExecAsk } = { security: "allowlist", ask: "on-miss" };

const refused = (text: string): HostChoice => ({ kind: "refused", text });

/** Where a call runs. The call can only make things stricter than the settings. Source: spec tools-and-automation §3.1. */
export function chooseHost(settings: HostSettings, args: Readonly<Record<string, unknown>>, elevated: boolean, hasSandbox: boolean): HostChoice {
  const wanted = { host: optionalString(args, "host"), node: optionalString(args, "node"), security: asSecurity(args["security"]), ask: asAsk(args["ask"]) };
  if (args["elevated"] === true && !elevated) return refused("elevated is not available right now: it is off in this session (/elevated on) or tools.elevated does not allow this sender.");
  const configured = settings.host ?? "sandbox";
  if (!elevated && wanted.host !== undefined && wanted.host !== configured) return refused(`exec host not allowed (requested ${wanted.host}; configure tools.exec.host=${configured} to allow).`);
  if (wanted.node !== undefined && settings.node !== undefined && wanted.node !== settings.node) return refused(`exec node not allowed (bound to ${settings.node})`);
  if (configured === "node") return refused("exec host=node requires a paired node (none available). Set tools.exec.host=gateway to run on the gateway host.");
  const isDenied = settings.security === "deny" || wanted.security === "deny";
  if (hasSandbox && !isDenied && (wanted.host === "sandbox" || (configured === "sandbox" && !elevated))) return { kind: "sandbox" };
  if (settings.host === "sandbox" || wanted.host === "sandbox") {
    if (hasSandbox) return refused("exec denied: host=sandbox security=deny");
    return refused("exec host=sandbox is configured, but sandbox runtime is unavailable for this session. Leave tools.exec.host unset or set it to gateway to run on the gateway host.");
  }
  const isExplicit = settings.host === "gateway" || (settings.security !== undefined && settings.security !== "full") || (settings.ask !== undefined && settings.ask !== "off");
  if (!isExplicit) return wanted.security === "deny" ? { kind: "gated", security: "deny", ask: "off" } : { kind: "open" };
  return {
    kind: "gated",
    security: stricterSecurity(settings.security ?? GATED_DEFAULTS.security, wanted.security),
    ask: stricterAsk(settings.ask ?? GATED_DEFAULTS.ask, wanted.ask),
  };
}
