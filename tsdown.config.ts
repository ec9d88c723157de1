import { existsSync, readdirSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { defineConfig, type UserConfig } from "tsdown";

/** Optional packages that bundled SDKs try to load; absent ones stay unresolved imports that are never reached. */
const optional = [
  "@silvia-odwyer/photon-node", "koffi", "@mariozechner/clipboard", "sharp", "jimp", "audio-decode", "link-preview-js", "zlib-sync", "bufferutil",
  "utf-8-validate", "encoding", "@opentelemetry/api", "canvas",
];

const SHIM = "\0lazy-jiti";

/** Pi imports `jiti/static` (Babel, 125 ms, 20 MB) for a loader that the gateway never uses: loaded when it is called. */
const lazyJiti = {
  name: "lazy-jiti",
  resolveId: { order: "pre" as const, handler: (id: string) => (id === "jiti/static" ? SHIM : null) },
  load: {
    handler: (id: string) =>
      id === SHIM
        ? 'import { createRequire } from "node:module";\nexport const createJiti = (...args) => createRequire(import.meta.url)("jiti").createJiti(...args);\nexport default createJiti;\n'
        : null,
  },
};

const HTTP = "\0node-http";
const httpNames = Object.entries(Object.getOwnPropertyDescriptors(http)).flatMap(([name, { get }]) => (get ? [] : [name]));

/** An `import` of node:http reads every export, also those that load Node's own undici (55 ms at start); this way does not. */
const lightHttp = {
  name: "light-http",
  resolveId: {
    order: "pre" as const,
    handler: (id: string, _importer: string | undefined, { kind }: { kind: string }) =>
      kind === "import-statement" && (id === "node:http" || id === "http") ? HTTP : null,
  },
  load: {
    handler: (id: string) =>
      id === HTTP ? `const http = process.getBuiltinModule("node:http");\nexport default http;\nexport const { ${httpNames.join(", ")} } = http;\n` : null,
  },
};

const SDK = /^openclaw\/plugin-sdk(?:\/.*)?$/;

/** A bundled extension shares the SDK's one instance; by its name it would not be found from where the build lies. */
const sharedSdk = {
  name: "shared-plugin-sdk",
  resolveId: { order: "pre" as const, handler: (id: string) => (SDK.test(id) ? { id: "../../plugin-sdk/index.js", external: true } : null) },
};

const outDir = process.env["OPENCLAW_OUT_DIR"] ?? "dist";
const common: UserConfig = { platform: "node", target: "node22.18", format: "esm", fixedExtension: false, clean: false, dts: false };
const deps: NonNullable<UserConfig["deps"]> = { neverBundle: [/^jiti$/, "@lydell/node-pty", "playwright-core", ...optional], onlyBundle: false };

const extensions = readdirSync(join(import.meta.dirname, "extensions"), { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && existsSync(join(import.meta.dirname, "extensions", entry.name, "index.ts")) ? [entry.name] : [],
);

export default defineConfig([
  { ...common, outDir, entry: { entry: "src/entry.ts", "plugin-sdk/index": "src/plugin-sdk/index.ts" }, plugins: [lazyJiti, lightHttp], deps },
  // Complete in itself: who writes a plugin has the gateway and nothing else. Only Node's types are beside it, as a dependency.
  {
    ...common, name: "sdk-types", outDir, entry: { "plugin-sdk/index": "src/plugin-sdk/index.ts" }, banner: { dts: '/// <reference types="node" />' },
    dts: { dtsOnly: true, tsconfig: "src/plugin-sdk/tsconfig.json" }, deps: { neverBundle: true, alwaysBundle: ["zod"], onlyBundle: ["zod"] },
  },
  ...extensions.map((id): UserConfig => ({ ...common, outDir: `${outDir}/extensions/${id}`, entry: { index: `extensions/${id}/index.ts` }, plugins: [sharedSdk], deps })),
]);
