import type { Locator, Page } from "playwright-core";
import { BrowserError, PageError } from "./profiles.ts";

/** What a person would do on a page. Source: spec tools-and-automation part 2 §11.2. */
export interface ActRequest {
  readonly kind: string;
  readonly ref?: string | undefined;
  readonly text?: string | undefined;
  readonly submit?: boolean | undefined;
  readonly slowly?: boolean | undefined;
  readonly doubleClick?: boolean | undefined;
  readonly button?: string | undefined;
  readonly modifiers?: readonly string[] | undefined;
  readonly key?: string | undefined;
  readonly startRef?: string | undefined;
  readonly endRef?: string | undefined;
  readonly values?: readonly string[] | undefined;
  readonly fields?: readonly { readonly ref?: string; readonly type?: string; readonly value?: unknown }[] | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly timeMs?: number | undefined;
  readonly textGone?: string | undefined;
  readonly fn?: string | undefined;
}

export const ACT_KINDS = ["click", "type", "press", "hover", "drag", "select", "fill", "resize", "wait", "evaluate", "close"] as const;

const MAX_WAIT_MS = 30_000;
const EVALUATE_MS = 20_000;
const MAX_RESULT_CHARS = 20_000;
const MODIFIERS = new Set(["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]);

export interface ActOptions {
  readonly evaluateEnabled: boolean;
  readonly timeoutMs: number;
}

/** @throws BrowserError for a request that cannot be meant, Error when the page does not do it */
export async function act(page: Page, request: ActRequest, { evaluateEnabled, timeoutMs }: ActOptions): Promise<{ result?: unknown }> {
  const timeout = timeoutMs;
  switch (request.kind) {
    case "click": {
      const target = byRef(page, request.ref);
      const button = request.button === "right" || request.button === "middle" ? request.button : "left";
      const modifiers = (request.modifiers ?? []).filter((name): name is "Alt" => MODIFIERS.has(name));
      await (request.doubleClick ? target.dblclick({ button, modifiers, timeout }) : target.click({ button, modifiers, timeout }));
      return {};
    }
    case "type": {
      const target = byRef(page, request.ref);
      const text = need(request.text, "text");
      if (request.slowly) {
        await target.click({ timeout });
        await target.pressSequentially(text, { delay: 50, timeout });
      } else await target.fill(text, { timeout });
      if (request.submit) await target.press("Enter", { timeout });
      return {};
    }
    case "press":
      await page.keyboard.press(need(request.key, "key"));
      return {};
    case "hover":
      await byRef(page, request.ref).hover({ timeout });
      return {};
    case "drag":
      await byRef(page, request.startRef, "startRef").dragTo(byRef(page, request.endRef, "endRef"), { timeout });
      return {};
    case "select":
      return { result: await byRef(page, request.ref).selectOption([...(request.values ?? [])], { timeout }) };
    case "fill":
      for (const field of request.fields ?? []) await fillField(byRef(page, field.ref), field.type, field.value, timeout);
      return {};
    case "resize":
      await page.setViewportSize({ width: size(request.width, "width"), height: size(request.height, "height") });
      return {};
    case "wait":
      await waitFor(page, request, timeout);
      return {};
    case "evaluate":
      if (!evaluateEnabled) throw new BrowserError("evaluate is switched off (browser.evaluateEnabled=false).");
      return { result: await evaluate(page, request) };
    case "close":
      await page.close();
      return {};
    default:
      throw new BrowserError(`Unknown kind "${request.kind}". Use one of ${ACT_KINDS.join(", ")}.`);
  }
}

/** The element that a snapshot named; selectors are refused. @throws BrowserError */
export function byRef(page: Page, ref: string | undefined, name = "ref"): Locator {
  const wanted = ref?.trim().replace(/^@/, "");
  if (!wanted) throw new BrowserError(`${name} is required`);
  if (!/^(?:f\d+)?e\d+$/i.test(wanted)) throw new BrowserError(`"${wanted.slice(0, 80)}" is no ref of a snapshot (like e12). Run a snapshot and use a ref from it; CSS selectors are not taken.`);
  return page.locator(`aria-ref=${wanted}`);
}

/** What Playwright says of a ref that is not there, in the words a model can act on. */
export function refProblem(err: unknown, ref: string | undefined): Error {
  const text = err instanceof Error ? err.message : String(err);
  if (/aria-ref|Ref .* not found|No element matching/i.test(text) && !/intercepts pointer|not visible|not enabled/i.test(text)) return new BrowserError(`Unknown ref "${ref ?? ""}". Run a new snapshot and use a ref from that snapshot.`, { cause: err });
  return new PageError(text.split("\n")[0]?.replace(/^\w+\.\w+: /, "") ?? "the action failed", { cause: err });
}

async function fillField(target: Locator, type: string | undefined, value: unknown, timeout: number): Promise<void> {
  if (type === "checkbox" || type === "radio" || typeof value === "boolean") await target.setChecked(value === true || value === "true", { timeout });
  else if (type === "select" || type === "combobox") await target.selectOption(String(value), { timeout });
  else await target.fill(String(value ?? ""), { timeout });
}

async function waitFor(page: Page, request: ActRequest, timeout: number): Promise<void> {
  if (request.text) return page.getByText(request.text).first().waitFor({ state: "visible", timeout });
  if (request.textGone) return page.getByText(request.textGone).first().waitFor({ state: "hidden", timeout });
  await page.waitForTimeout(Math.min(MAX_WAIT_MS, Math.max(0, request.timeMs ?? 1000)));
}

async function evaluate(page: Page, request: ActRequest): Promise<unknown> {
  const fn = need(request.fn, "fn");
  const late = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => reject(new BrowserError(`evaluate did not end within ${EVALUATE_MS} ms`)), EVALUATE_MS);
    timer.unref();
  });
  const source = /^\s*(?:async\s+)?(?:function\b|\(?[\w\s,{}[\]]*\)?\s*=>)/.test(fn) ? `(${fn})` : `(() => (${fn}))`;
  const run = request.ref ? byRef(page, request.ref).evaluate(`element => ${source}(element)`) : page.evaluate(`${source}()`);
  const result: unknown = await Promise.race([run, late]);
  const text = JSON.stringify(result) ?? "undefined";
  return text.length <= MAX_RESULT_CHARS ? result : `${text.slice(0, MAX_RESULT_CHARS)}…(truncated)…`;
}

function need(value: string | undefined, name: string): string {
  if (value === undefined || value === "") throw new BrowserError(`${name} is required`);
  return value;
}

function size(value: number | undefined, name: string): number {
  if (value === undefined || !(value >= 100 && value <= 4000)) throw new BrowserError(`${name} must be from 100 to 4000`);
  return Math.round(value);
}
