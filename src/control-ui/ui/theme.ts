import { loadSettings, saveSettings } from "../gateway/storage.ts";
import type { ThemeChoice } from "../gateway/storage.ts";

const prefersDark = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

function apply(choice: ThemeChoice): void {
  const dark = choice === "dark" || (choice === "system" && prefersDark().matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
}

export function setTheme(choice: ThemeChoice): void {
  saveSettings({ theme: choice });
  apply(choice);
}

/** Applies the stored choice and follows the system while that is the choice. */
export function followTheme(): void {
  apply(loadSettings().theme);
  prefersDark().addEventListener("change", () => apply(loadSettings().theme));
}
