import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What playwright-core needs to start the browser of the packages; plain data, so that it crosses processes. */
export interface ChromiumLaunch {
  readonly executablePath: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

declare module "vitest" {
  interface ProvidedContext {
    chromium: ChromiumLaunch;
    /** The built Control UI. */
    controlUiDir: string;
  }
}

const VERSION = "153.0.0";
const modules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));

/** Not the package's own list: `--single-process` dies at the second context, `--disable-web-security` hides faults. */
const ARGS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --font-render-hinting=none --hide-scrollbars".split(" ");

/** Unpacks Chromium once into node_modules/.cache and says how to start it. Needs no library of the system. */
export async function prepareChromium(): Promise<ChromiumLaunch> {
  const dir = join(modules, ".cache", `chromium-${VERSION}`);
  const ready = join(dir, ".ready");
  if (!existsSync(ready)) {
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    await mkdir(dir, { recursive: true });
    await unpack(dir);
    await writeFile(join(dir, "fonts.conf"), fontsConf(dir));
    await writeFile(ready, "");
  }
  return {
    executablePath: join(dir, "chromium"),
    args: ARGS,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: dir,
      TMPDIR: dir,
      LD_LIBRARY_PATH: join(dir, "al2023", "lib"),
      FONTCONFIG_FILE: join(dir, "fonts.conf"),
      LANG: "C.UTF-8",
    },
  };
}

/** The package unpacks into the temp directory, and brings its libraries only where it believes to be in a function runtime. */
async function unpack(dir: string): Promise<void> {
  const names = ["TMPDIR", "AWS_EXECUTION_ENV", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "HOME"] as const;
  const before = names.map((name) => [name, process.env[name]] as const);
  process.env["TMPDIR"] = dir;
  process.env["AWS_EXECUTION_ENV"] = "AWS_Lambda_nodejs24.x";
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    await chromium.executablePath();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

const fontsConf = (dir: string): string => `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(modules, "@embedpdf", "fonts-sc", "fonts")}</dir><dir>${join(dir, "fonts")}</dir><dir>/usr/share/fonts</dir>
  <cachedir>${join(dir, "font-cache")}</cachedir>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family><family>Noto Sans S Chinese</family></prefer></alias>
  <alias><family>system-ui</family><prefer><family>Open Sans</family><family>Noto Sans S Chinese</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family><family>Noto Sans S Chinese</family></prefer></alias>
</fontconfig>
`;
