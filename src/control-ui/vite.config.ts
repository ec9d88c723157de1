import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));
const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };

/** Nothing is inlined: the page's policy allows scripts and styles from its own origin only. */
export default defineConfig({
  root: here,
  base: "./",
  define: { __APP_VERSION__: JSON.stringify(manifest.version) },
  build: {
    outDir: fileURLToPath(new URL("../../dist/control-ui", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
  server: { proxy: { "/ws": { target: "ws://127.0.0.1:18789", ws: true } } },
});
