import { t } from "../i18n/index.ts";
import { toasts } from "./toast.ts";

/** Copies, and says so when it cannot. Pages on plain HTTP have no clipboard API: the old way is tried there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (copyBySelection(text)) return true;
    toasts.show(t("chat.copyFailed"), "error");
    return false;
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } finally {
    area.remove();
  }
}
