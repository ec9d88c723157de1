import type { OpenClawConfig } from "../../../config/index.ts";
import type { ChannelAgentTool, ChannelToolRun } from "../../contract/index.ts";
import type { LarkApi } from "../api.ts";
import { defaultAccountId, enabledAccounts, type Env, type LarkAccount } from "../config.ts";
import { bitableTools } from "./bitable.ts";
import { chatTool } from "./chat.ts";
import type { LarkTool, ToolFlag } from "./define.ts";
import { docTool } from "./doc.ts";
import { driveTool, permTool, scopesTool } from "./drive.ts";
import { wikiTool } from "./wiki.ts";

const TOOLS: readonly LarkTool[] = [docTool, wikiTool, driveTool, permTool, scopesTool, chatTool, ...bitableTools];
const OFF_BY_DEFAULT: ReadonlySet<ToolFlag> = new Set(["perm"]);

export interface LarkToolsDeps {
  readonly env: Env;
  accountOf(cfg: OpenClawConfig, accountId: string): LarkAccount;
  apiOf(account: LarkAccount): LarkApi;
}

/** The platform's tools with the credentials of the account that a run came through, else of the default one. */
export function createLarkTools(deps: LarkToolsDeps): (cfg: OpenClawConfig, run?: ChannelToolRun) => readonly ChannelAgentTool[] {
  return (cfg, run) => {
    const account = accountFor(deps, cfg, run);
    if (!account) return [];
    const flags = account.config.tools ?? {};
    const api = deps.apiOf(account);
    return TOOLS.filter(({ flag }) => flags[flag] ?? !OFF_BY_DEFAULT.has(flag)).map((tool) => tool.bind(account, api));
  };
}

function accountFor({ env, accountOf }: LarkToolsDeps, cfg: OpenClawConfig, run: ChannelToolRun | undefined): LarkAccount | undefined {
  const isUsable = (account: LarkAccount): boolean => account.enabled && account.problem === undefined;
  if (run?.channel === "feishu" && run.accountId !== undefined) {
    const own = accountOf(cfg, run.accountId);
    return isUsable(own) ? own : undefined;
  }
  const first = accountOf(cfg, defaultAccountId(cfg));
  return isUsable(first) ? first : enabledAccounts(cfg, env)[0];
}
