import type { Check } from "./check.ts";

/** Runs of sandboxed sessions fail without their sandbox. Source: spec cli-and-ui §5. */
export const sandboxChecks: readonly Check[] = [
  {
    title: "Sandbox",
    needsConfig: true,
    async find({ cli, snapshot }) {
      const modes = [snapshot.config.agents?.defaults?.sandbox?.mode, ...(snapshot.config.agents?.list ?? []).map((agent) => agent.sandbox?.mode)];
      if (modes.every((mode) => mode === undefined || mode === "off")) return [];
      const { findSandboxProblems } = await import("../../agents/index.ts");
      return (await findSandboxProblems({ config: snapshot.config, env: { ...cli.env, ...snapshot.env.vars } })).map((text) => ({ severity: "error" as const, text }));
    },
  },
];
