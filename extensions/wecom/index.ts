import { type OpenClawPluginApi, silentLogger } from "openclaw/plugin-sdk";
import { createWecomPlugin } from "./src/plugin.ts";

export default {
  id: "wecom",
  name: "WeCom",
  description: "WeCom (企业微信) as a channel",
  register(api: OpenClawPluginApi): void {
    const { logger } = api;
    const say = (level: "info" | "warn" | "error") => (message: string, fields?: object) => logger[level](fields === undefined ? message : `${message} ${JSON.stringify(fields)}`);
    const log = { ...silentLogger, info: say("info"), warn: say("warn"), error: say("error") };
    api.registerChannel({ plugin: createWecomPlugin({ env: process.env, log }) });
  },
};
