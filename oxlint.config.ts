import { defineConfig, type OxlintConfig } from "oxlint";

/** Low to high: a room imports only from rooms before it. `channels/contract` is a room of its own, far below the channels. */
const tiers: readonly (readonly string[])[] = [
  ["infra"], ["config"], ["security"], ["media"], ["pairing"], ["routing"], ["sessions"], ["channels/contract"], ["delivery"],
  ["memory", "tts", "browser", "nodes", "canvas"], ["agents"], ["auto-reply"], ["cron", "heartbeat", "hooks"], ["plugins"],
  ["channels/format", "channels/manager", "channels/telegram"], ["gateway"], ["cli"],
];

const layers: NonNullable<OxlintConfig["overrides"]> = tiers.flatMap((rooms, level) =>
  rooms.map((room) => {
    const forbidden = tiers.slice(level).flat().filter((other) => other !== room && !(other === "channels/format" && room.startsWith("channels/")));
    return {
      files: [`src/${room}/**`],
      rules: {
        "no-restricted-imports": ["error" as const, { patterns: [{ regex: `^(\\.\\./)+(${forbidden.join("|") || "$^"})/`, message: `${room} may not import from a higher room` }] }],
      },
    };
  }),
);

const config: OxlintConfig = {
  plugins: ["typescript", "import", "unicorn", "oxc"],
  categories: { correctness: "error", suspicious: "off" },
  options: { typeAware: true },
  ignorePatterns: ["dist/**", "node_modules/**", "src/config/types.generated.ts"],
  rules: {
    "import/no-cycle": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/no-explicit-any": "error",
    "typescript/await-thenable": "error",
    "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true }],
    "no-console": "off",
    "no-control-regex": "off",
    "no-await-in-loop": "off",
    "unicorn/no-thenable": "off",
    "typescript/unbound-method": "off",
    "typescript/no-base-to-string": "off",
    "typescript/restrict-template-expressions": "off",
    "unicorn/no-useless-spread": "off",
    "typescript/no-meaningless-void-operator": "off",
    "typescript/no-misused-spread": "off",
    "unicorn/prefer-string-starts-ends-with": "off",
  },
  overrides: [...layers],
};

export default defineConfig(config);
