import { html, nothing } from "lit";
import type { AppContext } from "../context.ts";
import { RpcError } from "../gateway/client.ts";
import { loadSettings, saveSettings } from "../gateway/storage.ts";
import { t } from "../i18n/index.ts";
import type { TextKey } from "../i18n/index.ts";
import type { SessionRow } from "../overview-store.ts";
import { askDialog } from "../ui/dialog.ts";
import { AppElement } from "../ui/element.ts";
import { errorText } from "../ui/format.ts";
import { icon, logo } from "../ui/icons.ts";
import type { Observable } from "../ui/observable.ts";
import { sessionName } from "../ui/session-name.ts";
import { toasts } from "../ui/toast.ts";
import type { ComposerElement } from "./composer.ts";
import "./composer.ts";
import "./thread.ts";

const RECENT_MS = 7 * 24 * 60 * 60 * 1000;

interface Idea {
  readonly label: TextKey;
  readonly send: TextKey;
}

/** What to begin with; the offline guide understands set phrases. */
const IDEAS: Readonly<Record<"model" | "offline", readonly Idea[]>> = {
  model: [
    { label: "chat.suggest.1", send: "chat.suggest.1" },
    { label: "chat.suggest.2", send: "chat.suggest.2" },
    { label: "chat.suggest.3", send: "chat.suggest.3.send" },
  ],
  offline: [
    { label: "chat.suggest.4", send: "chat.suggest.4.send" },
    { label: "chat.suggest.2", send: "chat.suggest.2.send" },
    { label: "chat.suggest.3", send: "chat.suggest.3.send" },
  ],
};

/** The chat page: session, conversation, composer. */
class OcChatView extends AppElement {
  static override properties = { ctx: { attribute: false }, name: {}, thinking: { state: true } };
  declare ctx: AppContext;
  declare name: string;
  declare thinking: boolean;

  constructor() {
    super();
    this.name = "";
    this.thinking = loadSettings().chatShowThinking;
  }

  protected override watched(): readonly Observable[] {
    return [this.ctx.chat, this.ctx.overview, this.ctx.client];
  }

  protected override firstUpdated(): void {
    // A keyboard that pops up unasked is a nuisance on phones.
    if (matchMedia("(hover: hover)").matches) this.#composer?.focus();
  }

  get #composer(): ComposerElement | null {
    return this.querySelector<ComposerElement>("oc-composer");
  }

  #sessions(): readonly { readonly key: string; readonly name: string }[] {
    const { chat, overview, client } = this.ctx;
    const main = client.hello?.snapshot.sessionDefaults.mainSessionKey ?? "";
    const rows = new Map<string, SessionRow | undefined>();
    for (const key of [main, chat.sessionKey]) if (key) rows.set(key, undefined);
    const recent = overview.sessions.filter((row) => rows.has(row.key) || (row.updatedAt ?? 0) > Date.now() - RECENT_MS);
    for (const row of recent) rows.set(row.key, row);
    return [...rows].map(([key, row]) => ({ key, name: sessionName(key, row) }));
  }

  #toggleThinking(): void {
    this.thinking = saveSettings({ chatShowThinking: !this.thinking }).chatShowThinking;
  }

  async #newSession(): Promise<void> {
    const { chat } = this.ctx;
    const name = this.#sessions().find((session) => session.key === chat.sessionKey)?.name ?? chat.sessionKey;
    if (chat.items.length > 0) {
      const answer = await askDialog({ title: t("chat.newSession.title"), body: t("chat.newSession.body", { name }), confirm: t("chat.newSession.confirm") });
      if (answer === undefined) return;
    }
    try {
      if (this.ctx.client.has("sessions.reset")) await chat.startNewSession();
      else chat.send("/new", []);
    } catch (err) {
      toasts.show(err instanceof RpcError ? err.message : errorText(err), "error");
    }
    this.#composer?.focus();
  }

  #empty() {
    const { offline } = this.ctx.overview.model;
    const ideas = IDEAS[offline ? "offline" : "model"];
    return html`<div class="empty">
      <div class="empty-mark">${logo()}</div>
      <h2>${t("chat.empty.title")}</h2>
      <p>${t(offline ? "chat.empty.offline" : "chat.empty.body")}</p>
      <div class="ideas">
        ${ideas.map((idea) => html`<button type="button" class="idea" @click=${() => this.ctx.chat.send(t(idea.send), [])}>${t(idea.label)}</button>`)}
      </div>
      <ul class="tips">
        <li>${t("chat.empty.tip.commands")}</li>
        <li>${t("chat.empty.tip.images")}</li>
        <li>${t("chat.empty.tip.newline")}</li>
      </ul>
    </div>`;
  }

  #notice() {
    const { notice } = this.ctx.chat;
    if (!notice) return nothing;
    const text = notice.kind === "compacting" ? t("chat.compacting") : t("chat.fallback", { from: notice.from, to: notice.to });
    return html`<div class="notice" role="status">${notice.kind === "compacting" ? html`<span class="spinner" aria-hidden="true"></span>` : icon("alert")}${text}</div>`;
  }

  protected override render() {
    const { chat, overview, router, client } = this.ctx;
    const sessions = this.#sessions();
    const empty = chat.loaded && chat.items.length === 0 && !chat.busy;
    return html`
      <header class="chat-head">
        <h1 class="visually-hidden">${t("chat.title")}</h1>
        <span class="session-pick">
          <select aria-label=${t("chat.session")} .value=${chat.sessionKey} @change=${(event: Event) => router.go("chat", (event.target as HTMLSelectElement).value)}>
            ${sessions.map((session) => html`<option value=${session.key} ?selected=${session.key === chat.sessionKey}>${session.name}</option>`)}
          </select>
          ${icon("chevron")}
        </span>
        ${overview.model.ref && !overview.model.offline ? html`<span class="model-tag" title=${overview.model.reason || t("model.inUse")}>${overview.model.ref}</span>` : nothing}
        <span class="spacer"></span>
        <button type="button" class="icon-button" aria-label=${t("chat.refresh")} title=${t("chat.refresh")} ?disabled=${!client.hello} @click=${() => chat.refresh()}>${icon("refresh")}</button>
        <button type="button" class="icon-button" aria-pressed=${this.thinking} aria-label=${t("chat.thinking.show")} title=${t(this.thinking ? "chat.thinking.hide" : "chat.thinking.show")} @click=${() => this.#toggleThinking()}>${icon("bulb")}</button>
        <button type="button" class="button small new-session" ?disabled=${!client.hello} @click=${() => this.#newSession()}>${icon("plus")}<span>${t("chat.newSession")}</span></button>
      </header>
      ${overview.model.offline
        ? html`<div class="strip info"><span>${t("chat.offline")}</span><a class="button small" href=${router.href("overview")} @click=${(event: Event) => { event.preventDefault(); router.go("overview"); }}>${t("chat.offline.how")}</a></div>`
        : nothing}
      ${chat.historyError ? html`<div class="strip bad" role="alert"><span>${t("chat.error.history")}: ${chat.historyError}</span><button type="button" class="button small" @click=${() => chat.refresh()}>${t("chat.retry")}</button></div>` : nothing}
      <div class="chat-body">
        ${empty ? this.#empty() : nothing}
        ${!chat.loaded && chat.items.length === 0 && !chat.historyError ? html`<div class="loading"><span class="spinner" aria-hidden="true"></span>${t("chat.loading")}</div>` : nothing}
        <oc-thread ?hidden=${empty} .store=${chat} .thinking=${this.thinking} .name=${this.name}></oc-thread>
      </div>
      <div class="chat-foot">${this.#notice()}<oc-composer .store=${chat} .client=${client} .commands=${overview.commands}></oc-composer></div>
    `;
  }
}

customElements.define("oc-chat-view", OcChatView);
