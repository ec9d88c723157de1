import { defineConfig, type OxlintConfig } from "oxlint";
import { forbiddenRooms, tiers } from "./test/layers.ts";

/** One rule per room, made from the table of tiers. */
const layers: NonNullable<OxlintConfig["overrides"]> = tiers.flat().map((room) => ({
  files: [`src/${room}/**`],
  rules: {
    "no-restricted-imports": [
      "error" as const,
      { patterns: [{ regex: `^(\\.\\./)+(${forbiddenRooms(room).join("|") || "$^"})/`, message: `${room} may not import from a higher room` }] },
    ],
  },
}));

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
