import { randomBytes } from "node:crypto";
import { formatIssue, migrateLegacyConfig, parseConfigPath, unsetAtPath, type ConfigIssue, type ConfigPath } from "../../config/index.ts";
import { resolveAuth } from "../../security/index.ts";
import { createWriter } from "../config-access.ts";
import type { Check, CheckInput, Problem } from "./check.ts";

const UNKNOWN = /^Unrecognized key: "([^"]+)"/;

/** The path of an unknown key that an issue tells of. */
function unknownKeyOf({ path, message }: ConfigIssue): ConfigPath | undefined {
  const key = UNKNOWN.exec(message)?.[1];
  return key === undefined ? undefined : [...(path === "" ? [] : parseConfigPath(path)), key];
}

/** One write that moves old keys and takes unknown ones out: each alone would leave an invalid file, which no write may. */
async function repairKeys({ cli, snapshot }: CheckInput, withUnknown: boolean): Promise<readonly string[]> {
  const unknown = withUnknown ? [...snapshot.issues, ...snapshot.warnings].map(unknownKeyOf).filter((path) => path !== undefined) : [];
  let changes: readonly string[] = [];
  await createWriter(cli).update((source) => {
    const moved = migrateLegacyConfig(source);
    changes = moved.changes;
    return unknown.reduce<unknown>((config, path) => unsetAtPath(config, path), moved.config);
  });
  return [...changes, ...unknown.map((path) => `Removed unknown key ${path.join(".")}.`)];
}

async function findConfigProblems(input: CheckInput): Promise<readonly Problem[]> {
  const { snapshot } = input;
  const problems: Problem[] = [];
  const unknown = [...snapshot.issues, ...snapshot.warnings].filter((issue) => unknownKeyOf(issue) !== undefined);
  const legacy = snapshot.legacyIssues;
  // One write for both kinds: what only half repairs the file cannot be written.
  const keys = [...new Set([...legacy, ...unknown].map(formatIssue))];
  if (keys.length > 0) {
    const text = [...(legacy.length > 0 ? ["Old keys:", ...legacy.map(formatIssue)] : []), ...(unknown.length > 0 ? ["Unknown keys:", ...unknown.map(formatIssue)] : [])].join("\n");
    const withUnknown = unknown.length > 0;
    problems.push({ severity: snapshot.valid ? "warn" : "error", text, repair: { kind: withUnknown ? "careful" : "safe", run: () => repairKeys(input, withUnknown) } });
  }
  const known = new Set(keys);
  for (const issue of snapshot.issues) if (!known.has(formatIssue(issue))) problems.push({ severity: "error", text: formatIssue(issue) });
  for (const warning of snapshot.warnings) if (!known.has(formatIssue(warning))) problems.push({ severity: "warn", text: formatIssue(warning) });
  if (!snapshot.exists) problems.push({ severity: "note", text: `No config at ${snapshot.path}: the first \`openclaw gateway\` writes one.` });
  return problems;
}

export const configChecks: readonly Check[] = [
  { title: "Config", find: findConfigProblems },
  {
    title: "Unused keys",
    needsConfig: true,
    find: async ({ snapshot }) => snapshot.unusedKeys.map((key) => ({ severity: "note" as const, text: `${key} is known, but has no effect in this version` })),
  },
  {
    title: "Environment",
    find: async ({ cli }) =>
      Object.keys(cli.env)
        .filter((name) => name.startsWith("CLAWDBOT_") || name.startsWith("MOLTBOT_"))
        .map((name) => ({ severity: "warn" as const, text: `${name} is an old name; use ${name.replace(/^[A-Z]+_/, "OPENCLAW_")}` })),
  },
  {
    title: "Gateway auth",
    needsConfig: true,
    async find({ cli, snapshot }) {
      const auth = resolveAuth(snapshot.config, snapshot.env.vars as NodeJS.ProcessEnv);
      if (!snapshot.exists || snapshot.config.gateway?.mode === "remote") return [];
      if (auth.mode === "none") return [{ severity: "warn", text: "gateway.auth.mode is none: every program of this machine can use the gateway" }];
      if (auth.mode === "password" && !auth.password) return [{ severity: "error", text: "gateway.auth.mode is password, but gateway.auth.password is not set" }];
      if (auth.mode !== "token" || auth.token) return [];
      return [
        {
          severity: "warn",
          text: "No gateway token is set",
          repair: {
            kind: "careful",
            run: async () => {
              await createWriter(cli).set("gateway.auth.token", randomBytes(24).toString("hex"));
              return ["Made a gateway token (gateway.auth.token)."];
            },
          },
        },
      ];
    },
  },
];
