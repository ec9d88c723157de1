import { Type } from "typebox";
import { optionalString } from "./arguments.ts";
import { toolError, toolText, type AgentTool } from "./contract.ts";

/** The status card of a session, and its model override. Given by the room that knows sessions and commands. */
export interface SessionStatusSource {
  status(sessionKey: string): Promise<string>;
  /** `default` clears. @throws Error with the reason when the model is unknown or not allowed */
  setModel(sessionKey: string, model: string): Promise<void>;
}

const PARAMETERS = Type.Object({ model: Type.Optional(Type.String()), sessionKey: Type.Optional(Type.String()) });

/** `ownOnly`: a sandboxed session does not look at others. */
export function createSessionStatusTool({ source, sessionKey, isOwner, ownOnly }: { readonly source: SessionStatusSource; readonly sessionKey: string; readonly isOwner: boolean; readonly ownOnly: boolean }): AgentTool {
  return {
    name: "session_status",
    label: "Session Status",
    summary: "Status of the session: time, model, tokens",
    description: "Show the current time, model, token use and settings of the session. model sets an override for it ('default' clears).",
    parameters: PARAMETERS,
    describe: (args) => optionalString(args, "model") ?? "",
    async execute(args) {
      const wanted = optionalString(args, "sessionKey");
      if (wanted && ownOnly && wanted.toLowerCase() !== sessionKey) return toolError(`Session ${wanted} is not visible from a sandbox.`);
      const key = wanted && isOwner ? wanted : sessionKey;
      const model = optionalString(args, "model");
      if (model !== undefined) {
        if (!isOwner) return toolError("Only the owner may change the model.");
        await source.setModel(key, model);
      }
      const statusText = await source.status(key);
      return toolText(statusText, { ok: true, sessionKey: key, changedModel: model !== undefined, statusText });
    },
  };
}
