import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";

export interface BrowserExecutable {
  readonly kind: string;
  readonly path: string;
}

const NAMES: readonly (readonly [kind: string, ...names: string[]])[] = [
  ["chrome", "google-chrome", "google-chrome-stable", "chrome"], ["brave", "brave-browser", "brave"], ["edge", "microsoft-edge", "microsoft-edge-stable"], ["chromium", "chromium", "chromium-browser"],
];
const MAC: readonly (readonly [kind: string, path: string])[] = [
  ["chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"], ["brave", "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser"],
  ["edge", "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"], ["chromium", "/Applications/Chromium.app/Contents/MacOS/Chromium"],
];
const WINDOWS: readonly (readonly [kind: string, path: string])[] = [
  ["chrome", "Google\\Chrome\\Application\\chrome.exe"], ["edge", "Microsoft\\Edge\\Application\\msedge.exe"], ["brave", "BraveSoftware\\Brave-Browser\\Application\\brave.exe"],
];

/** A browser of the Chromium family on this machine; undefined when there is none. */
export async function findBrowser(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform = process.platform): Promise<BrowserExecutable | undefined> {
  for (const [kind, path] of candidates(env, platform)) {
    if (await access(path, constants.X_OK).then(() => true, () => false)) return { kind, path };
  }
  return undefined;
}

function candidates(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): (readonly [string, string])[] {
  if (platform === "darwin") return [...MAC];
  if (platform === "win32") {
    const roots = [env["PROGRAMFILES"], env["PROGRAMFILES(X86)"], env["LOCALAPPDATA"]].filter((root): root is string => root !== undefined);
    return WINDOWS.flatMap(([kind, path]) => roots.map((root) => [kind, `${root}\\${path}`] as const));
  }
  const dirs = [...(env["PATH"] ?? "").split(delimiter).filter((dir) => dir.startsWith("/")), "/usr/bin", "/usr/local/bin", "/snap/bin"];
  return NAMES.flatMap(([kind, ...names]) => names.flatMap((name) => dirs.map((dir) => [kind, join(dir, name)] as const)));
}
