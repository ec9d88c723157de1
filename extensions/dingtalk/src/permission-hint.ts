import type { Logger } from "openclaw/plugin-sdk";
import type { DingTalkAccount } from "./config.ts";
import { DingTalkError } from "./errors.ts";

const HOUR_MS = 3_600_000;
const HINT = "In the DingTalk developer console open the app → 权限管理 and grant 企业内机器人发送消息权限 (qyapi_robot_sendmsg), for cards also Card.Streaming.Write and Card.Instance.Write, then publish a new version";

/** Says what to do when the app lacks a permission, in the log once per cooldown. Source: `proactivePermissionHint`. */
export interface PermissionHint {
  /** The failure, with the hint in its text where it is about a permission. */
  explain(err: unknown, account: DingTalkAccount): unknown;
}

export function createPermissionHint(log: Logger, now: () => number): PermissionHint {
  let quietUntilMs = 0;
  return {
    explain(err, { accountId, config }) {
      const { enabled = true, cooldownHours = 24 } = config.proactivePermissionHint ?? {};
      if (!(err instanceof DingTalkError) || err.kind !== "permission" || !enabled) return err;
      if (now() >= quietUntilMs) {
        quietUntilMs = now() + cooldownHours * HOUR_MS;
        log.warn("the app lacks a permission of DingTalk", { accountId, reason: err.message, fix: HINT });
      }
      return new DingTalkError("permission", `${err.message}. ${HINT}.`, { cause: err, code: err.code });
    },
  };
}
