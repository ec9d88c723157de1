import { type OpenClawPluginApi, silentLogger } from "openclaw/plugin-sdk";
import { createQQBotPlugin } from "./src/plugin.ts";

export default {
  id: "qqbot",
  name: "QQ Bot",
  description: "QQ Bot (QQ 机器人) as a channel",
  register(api: OpenClawPluginApi): void {
    const { logger } = api;
    const say = (level: "info" | "warn" | "error") => (message: string, fields?: object) => logger[level](fields === undefined ? message : `${message} ${JSON.stringify(fields)}`);
    api.registerChannel({ plugin: createQQBotPlugin({ env: process.env, stateDir: () => api.runtime.state.resolveStateDir(), log: { ...silentLogger, info: say("info"), warn: say("warn"), error: say("error") } }) });
  },
};
