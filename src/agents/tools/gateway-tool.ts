import { Type } from "typebox";
import { optionalNumber, optionalString, requireString } from "./arguments.ts";
import { toolJson, type AgentTool } from "./contract.ts";

/** What the tool asks of the gateway that it runs in. All reject with a message for the model. */
export interface GatewayActions {
  /** `config.get`, `config.schema`, `config.apply`, `config.patch`. */
  config(method: "get" | "schema" | "apply" | "patch", params: Readonly<Record<string, unknown>>): Promise<unknown>;
  restart(request: { readonly reason: string; readonly delayMs: number | undefined; readonly sessionKey: string; readonly note: string | undefined }): Promise<unknown>;
  /** `commands.restart` of the configuration. */
  mayRestart(): boolean;
}

const ACTIONS = ["restart", "config.get", "config.schema", "config.apply", "config.patch", "update.run"];
const MAX_REASON_CHARS = 200;

const PARAMETERS = Type.Object({
  action: Type.Unsafe<string>({ type: "string", enum: ACTIONS }), raw: Type.Optional(Type.String()), baseHash: Type.Optional(Type.String()), note: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()), delayMs: Type.Optional(Type.Number()), restartDelayMs: Type.Optional(Type.Number()),
});

/** Looks at and changes the gateway itself; for owners. Source: spec tools-and-automation §1.5. */
export function createGatewayTool({ actions, sessionKey }: { readonly actions: GatewayActions; readonly sessionKey: string }): AgentTool {
  return {
    name: "gateway",
    label: "Gateway",
    summary: "Configuration and restart of the gateway",
    description: "Read or change the gateway's configuration (config.get, config.schema, config.patch with raw JSON5 of what changes, config.apply with the whole), or restart it. Secrets are hidden; leave their placeholders as they are. Ask the person before changing anything.",
    ownerOnly: true,
    parameters: PARAMETERS,
    describe: (args) => optionalString(args, "action") ?? "",
    async execute(args) {
      const action = requireString(args, "action");
      const note = optionalString(args, "note");
      switch (action) {
        case "restart": {
          if (!actions.mayRestart()) throw new Error("Gateway restart is disabled (commands.restart=false).");
          const reason = (optionalString(args, "reason") ?? "asked for by the agent").slice(0, MAX_REASON_CHARS);
          return toolJson(await actions.restart({ reason, delayMs: optionalNumber(args, "delayMs"), sessionKey, note }));
        }
        case "config.get":
          return toolJson(await actions.config("get", {}));
        case "config.schema":
          return toolJson(await actions.config("schema", {}));
        case "config.apply":
        case "config.patch": {
          const raw = requireString(args, "raw");
          const baseHash = optionalString(args, "baseHash") ?? hashOf(await actions.config("get", {}));
          const delay = optionalNumber(args, "restartDelayMs");
          return toolJson(await actions.config(action === "config.apply" ? "apply" : "patch", { raw, sessionKey, ...(baseHash ? { baseHash } : {}), ...(note ? { note } : {}), ...(delay === undefined ? {} : { restartDelayMs: Math.max(0, Math.trunc(delay)) }) }));
        }
        case "update.run":
          throw new Error("Updates are installed by the person: npm install -g openclaw@latest, then openclaw gateway restart.");
        default:
          throw new Error(`Unknown action ${action}. Use one of ${ACTIONS.join(", ")}.`);
      }
    },
  };
}

function hashOf(snapshot: unknown): string | undefined {
  return typeof snapshot === "object" && snapshot !== null && "hash" in snapshot && typeof snapshot.hash === "string" ? snapshot.hash : undefined;
}
