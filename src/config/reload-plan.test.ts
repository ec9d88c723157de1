import { expect, it } from "vitest";
import { changedPaths } from "./json-value.ts";
import { planReload } from "./reload-plan.ts";

const telegram = {
  channelId: "telegram",
  configPrefixes: ["channels.telegram"],
  noopPrefixes: ["channels.telegram.actions"],
};

it.each([
  [["meta.lastTouchedAt", "models.providers", "agents.defaults.model", "session.scope"], "none", []],
  [["gateway.reload.mode", "gateway.remote.url"], "none", []],
  [
    ["gateway.auth.token", "gateway.trustedProxies", "gateway.controlUi.allowedOrigins"],
    "hot",
    ["gateway-auth", "trusted-proxies", "allowed-origins"],
  ],
  [["gateway.port"], "restart", []],
  [["hooks.gmail.account"], "hot", ["gmail", "hooks"]],
  [["hooks.token"], "hot", ["hooks"]],
  [["agents.defaults.heartbeat.every"], "hot", ["heartbeat"]],
  [["agents.list"], "hot", ["heartbeat"]],
  [["cron.enabled", "browser.enabled"], "hot", ["cron", "browser"]],
  [["channels.telegram.botToken"], "hot", ["channel:telegram"]],
  [["channels.telegram.actions.reactions"], "none", []],
  [["channels.slack.botToken"], "restart", []],
  [["commands.ownerAllowFrom"], "none", []],
  [["commands.native"], "restart", []],
  [["plugins.allow", "cron.enabled"], "restart", ["cron"]],
  [["env.X"], "restart", []],
])("%j asks for %s", (paths, kind, hot) => {
  expect(planReload(paths, [telegram])).toMatchObject({ kind, hot: new Set(hot) });
});

it("compares by key, a list as one", () => {
  expect(changedPaths({ a: 1, l: [1], o: {} }, { a: 1, l: [2], n: { x: { y: 1 } }, o: 2 })).toEqual([
    "l",
    "o",
    "n.x.y",
  ]);
});
