import { describe, expect, it } from "vitest";
import { resolveGatewayPort, resolveStatePaths } from "./paths.ts";
import { applyProfileArgs } from "./profile.ts";

const none = { exists: () => false, cwd: "/cwd", osHome: "/os" };
const only = (...paths: string[]) => ({ ...none, exists: (path: string) => paths.includes(path) });

describe("state paths", () => {
  it("takes OPENCLAW_HOME over HOME over USERPROFILE over the system", () => {
    expect(resolveStatePaths({ OPENCLAW_HOME: "~/x", HOME: "/h", USERPROFILE: "/u" }, none).stateDir).toBe(
      "/h/x/.openclaw",
    );
    expect(resolveStatePaths({ HOME: "/h", USERPROFILE: "/u" }, none).stateDir).toBe("/h/.openclaw");
    expect(resolveStatePaths({ USERPROFILE: "/u" }, none).stateDir).toBe("/u/.openclaw");
    expect(resolveStatePaths({}, none).stateDir).toBe("/os/.openclaw");
  });

  it("finds the directory and file of an older name", () => {
    expect(resolveStatePaths({ HOME: "/h" }, only("/h/.moltbot", "/h/.moltbot/moltbot.json")).configPath).toBe(
      "/h/.moltbot/moltbot.json",
    );
    expect(resolveStatePaths({ HOME: "/h" }, only("/h/.clawdbot", "/h/.openclaw")).stateDir).toBe("/h/.openclaw");
  });

  it("lets the environment place state, config and credentials", () => {
    const paths = resolveStatePaths(
      {
        HOME: "/h",
        CLAWDBOT_STATE_DIR: "~/s",
        OPENCLAW_CONFIG_PATH: "c.json5",
        OPENCLAW_OAUTH_DIR: "/o",
        OPENCLAW_PROFILE: "p",
      },
      none,
    );
    expect(paths).toMatchObject({
      stateDir: "/h/s",
      configPath: "/cwd/c.json5",
      credentialsDir: "/o",
      logsDir: "/h/s/logs",
      agentsDir: "/h/s/agents",
      defaultWorkspace: "/h/.openclaw/workspace-p",
      profile: "p",
    });
  });

  it("resolves the port: flag, environment, config, default", () => {
    const config = { gateway: { port: 3 } };
    expect(resolveGatewayPort(1, { OPENCLAW_GATEWAY_PORT: "2" }, config)).toEqual({ port: 1, source: "flag" });
    expect(resolveGatewayPort(undefined, { CLAWDBOT_GATEWAY_PORT: "2" }, config)).toEqual({ port: 2, source: "env" });
    expect(resolveGatewayPort(undefined, { OPENCLAW_GATEWAY_PORT: "x" }, config)).toEqual({
      port: 3,
      source: "config",
    });
    expect(resolveGatewayPort(undefined, {}, {})).toEqual({ port: 18789, source: "default" });
  });
});

describe("profile flags", () => {
  it("places a profile in its own directory and removes the flag", () => {
    expect(
      applyProfileArgs(["--log-level", "debug", "--profile", "work", "status", "--profile", "x"], { A: "1" }),
    ).toMatchObject({
      kind: "ok",
      profile: "work",
      argv: ["--log-level", "debug", "status", "--profile", "x"],
      env: {
        A: "1",
        OPENCLAW_PROFILE: "work",
        OPENCLAW_STATE_DIR: "~/.openclaw-work",
        OPENCLAW_CONFIG_PATH: "~/.openclaw-work/openclaw.json",
      },
    });
    expect(applyProfileArgs(["--profile=default"], {})).toMatchObject({ env: { OPENCLAW_STATE_DIR: "~/.openclaw" } });
  });

  it("keeps what the environment says already", () => {
    expect(applyProfileArgs(["--dev"], { OPENCLAW_STATE_DIR: "/s" })).toMatchObject({
      dev: true,
      env: { OPENCLAW_STATE_DIR: "/s", OPENCLAW_CONFIG_PATH: "/s/openclaw.json", OPENCLAW_GATEWAY_PORT: "19001" },
    });
  });

  it.each([[["--profile"]], [["--profile", ""]], [["--profile", "a/b"]], [["--dev", "--profile", "x"]]])(
    "refuses %j with exit code 2",
    (argv) => {
      expect(applyProfileArgs(argv, {})).toMatchObject({ kind: "error", exitCode: 2 });
    },
  );

  it("looks no further than the command word", () => {
    expect(applyProfileArgs(["status", "--dev"], {})).toMatchObject({
      kind: "ok",
      argv: ["status", "--dev"],
      profile: undefined,
      dev: false,
    });
  });
});
