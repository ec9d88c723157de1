import { html, nothing } from "lit";
import { unsafeHTML } from "lit/directives/unsafe-html.js";
import type { AssistantItem, DividerItem, ErrorItem, ImageRef, Item, ToolItem, UserItem } from "../chat/items.ts";
import { renderMarkdown } from "../chat/markdown.ts";
import { t } from "../i18n/index.ts";
import { copyText } from "../ui/clipboard.ts";
import { AppElement } from "../ui/element.ts";
import { byteSize, clockTime, textDirection } from "../ui/format.ts";
import { icon, toolIcon } from "../ui/icons.ts";

const COPIED_MS = 1_600;

/** One entry of the thread; redrawn only when its item is another object. Fires `retry-item` and `dismiss-item`. */
class OcMessage extends AppElement {
  static override properties = { item: { attribute: false }, thinking: { type: Boolean }, name: {} };
  declare item: Item | undefined;
  declare thinking: boolean;
  declare name: string;

  constructor() {
    super();
    this.item = undefined;
    this.thinking = true;
    this.name = "";
  }

  protected override render() {
    const { item } = this;
    switch (item?.kind) {
      case "user":
        return this.#user(item);
      case "assistant":
        return this.#assistant(item);
      case "tool":
        return toolCard(item);
      case "divider":
        return divider(item);
      case "error":
        return this.#error(item);
      default:
        return nothing;
    }
  }

  #fire(name: string): void {
    this.dispatchEvent(new CustomEvent(name, { detail: this.item, bubbles: true }));
  }

  #user(item: UserItem) {
    return html`<article class="message user ${item.state}" aria-label=${t("chat.you")}>
      <div class="bubble" dir=${textDirection(item.text)}>
        ${images(item.images)}
        ${item.text === "" ? nothing : html`<div class="user-text">${item.text}</div>`}
      </div>
      <footer>
        ${item.state === "sending" ? html`<span>${t("chat.sending")}</span>` : nothing}
        ${item.state === "failed" ? html`<span class="bad">${t("chat.notSent")}</span>` : nothing}
        ${item.at > 0 && item.state === "sent" ? html`<time>${clockTime(item.at)}</time>` : nothing}
        ${item.text === "" ? nothing : html`<oc-copy .text=${item.text} label=${t("chat.copy")}></oc-copy>`}
      </footer>
    </article>`;
  }

  #assistant(item: AssistantItem) {
    const thinking = this.thinking && item.thinking !== "";
    if (item.text === "" && !thinking) return nothing;
    return html`<article class="message assistant ${item.streaming ? "streaming" : ""}" aria-label=${this.name || t("chat.assistant")}>
      ${thinking
        ? html`<details class="thinking" ?open=${item.streaming && item.text === ""}>
            <summary>${icon("bulb")}<span>${t(item.streaming && item.text === "" ? "chat.thinking.live" : "chat.thinking")}</span>${icon("chevron")}</summary>
            <div class="thinking-text" dir="auto">${item.thinking}</div>
          </details>`
        : nothing}
      ${item.text === ""
        ? nothing
        : html`<div class="markdown" dir=${textDirection(item.text)} @click=${onCodeCopy}>${renderMarkdown(item.text).map((block) => html`<div class="block">${unsafeHTML(block)}</div>`)}</div>`}
      ${images(item.images)}
      ${item.streaming
        ? nothing
        : html`<footer>
            ${item.stopped ? html`<span class="tag">${t("chat.stopped")}</span>` : nothing}
            ${item.at > 0 ? html`<time>${clockTime(item.at)}</time>` : nothing}
            ${item.text === "" ? nothing : html`<oc-copy .text=${item.text} label=${t("chat.copy")}></oc-copy>`}
          </footer>`}
    </article>`;
  }

  #error(item: ErrorItem) {
    return html`<div class="callout bad" role="alert">
      ${icon("alert")}
      <div class="callout-text">
        <strong>${t(item.retry?.state === "failed" ? "chat.error.send" : "chat.error.title")}</strong>
        <p dir="auto">${item.message}</p>
        <div class="callout-actions">
          ${item.retry ? html`<button type="button" class="button small" @click=${() => this.#fire("retry-item")}>${icon("refresh")}${t("chat.retry")}</button>` : nothing}
          <button type="button" class="button small ghost" @click=${() => this.#fire("dismiss-item")}>${t("chat.dismiss")}</button>
        </div>
      </div>
    </div>`;
  }
}

customElements.define("oc-message", OcMessage);

function images(list: readonly ImageRef[]) {
  if (list.length === 0) return nothing;
  return html`<div class="images">
    ${list.map((image) =>
      image.src
        ? html`<img src=${image.src} alt=${image.name ?? t("chat.imageAlt")} loading="lazy" />`
        : html`<span class="chip">${icon("image")}${image.name ?? t("chat.imageOmitted", { size: image.bytes === undefined ? "?" : byteSize(image.bytes) })}</span>`,
    )}
  </div>`;
}

function divider(item: DividerItem) {
  const label = t(item.about === "compaction" ? "chat.compaction" : "chat.newSessionDivider");
  if (item.detail === "") return html`<div class="divider" role="separator" aria-label=${label}><span>${label}</span></div>`;
  return html`<details class="divider-details">
    <summary class="divider"><span>${label}${icon("chevron")}</span></summary>
    <div class="divider-text" dir="auto">${item.detail}</div>
  </details>`;
}

/** The argument a person recognises the call by. */
function summaryOf(args: unknown): string {
  if (typeof args === "string") return args;
  if (typeof args !== "object" || args === null) return "";
  const entries = Object.entries(args).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const preferred = ["command", "path", "file_path", "url", "query", "pattern", "name", "action", "message", "text"];
  const best = preferred.map((key) => entries.find(([name]) => name === key)).find((entry) => entry !== undefined) ?? entries[0];
  if (!best) return "";
  return typeof best[1] === "string" ? best[1] : JSON.stringify(best[1]);
}

const asText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""));

function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > 60_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function toolCard(item: ToolItem) {
  const seconds = item.durationMs === undefined || item.durationMs < 1000 ? undefined : (item.durationMs / 1000).toFixed(1);
  const input = item.args === undefined || (typeof item.args === "object" && item.args !== null && Object.keys(item.args).length === 0) ? "" : asText(item.args);
  const state = { running: t("tool.running"), done: t("tool.done"), failed: t("tool.failed") }[item.state];
  return html`<details class="tool tool-${item.state}" data-tool=${item.name}>
    <summary>
      <span class="tool-icon">${icon(toolIcon(item.name))}</span>
      <span class="tool-name">${item.name}</span>
      <span class="tool-summary">${summaryOf(item.args)}</span>
      <span class="tool-state">${item.state === "running" ? html`<span class="spinner" aria-hidden="true"></span>` : icon(item.state === "done" ? "check" : "close")}<span class="visually-hidden">${state}</span>${seconds ? html`<span>${t("tool.seconds", { n: seconds })}</span>` : nothing}</span>
      ${icon("chevron")}
    </summary>
    <div class="tool-body">
      ${input === "" ? nothing : html`<div class="tool-part"><h4>${t("tool.input")}</h4><oc-copy .text=${input} label=${t("chat.copyCode")}></oc-copy><pre tabindex="0">${input}</pre></div>`}
      ${item.output === ""
        ? item.images.length > 0 || item.state === "running"
          ? nothing
          : html`<p class="muted">${t("tool.noOutput")}</p>`
        : html`<div class="tool-part"><h4>${t("tool.output")}</h4><oc-copy .text=${item.output} label=${t("chat.copyCode")}></oc-copy><pre tabindex="0">${pretty(item.output)}</pre></div>`}
      ${images(item.images)}
    </div>
  </details>`;
}

/** Copy buttons inside Markdown come as plain HTML; one listener serves them all. */
async function onCodeCopy(event: Event): Promise<void> {
  const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>("button[data-copy]") : null;
  if (!button) return;
  const code = button.closest(".code")?.querySelector("code")?.textContent ?? "";
  if (!(await copyText(code))) return;
  button.textContent = t("chat.copied");
  setTimeout(() => (button.textContent = t("chat.copyCode")), COPIED_MS);
}
