import { html, nothing } from "lit";
import type { AppContext } from "./context.ts";
import { loadSettings, saveSettings } from "./gateway/storage.ts";
import type { ThemeChoice } from "./gateway/storage.ts";
import { locale, LOCALES, setLocale, t } from "./i18n/index.ts";
import type { Locale, TextKey } from "./i18n/index.ts";
import { AppElement } from "./ui/element.ts";
import { icon, logo } from "./ui/icons.ts";
import type { IconName } from "./ui/icons.ts";
import type { Observable } from "./ui/observable.ts";
import type { View } from "./ui/router.ts";
import { setTheme } from "./ui/theme.ts";
import "./ui/copy-button.ts";
import "./ui/toast.ts";
import "./views/approval-dialog.ts";
import "./views/chat-view.ts";
import "./views/connect-panel.ts";
import "./views/overview-view.ts";

const VIEWS: readonly { readonly view: View; readonly label: TextKey; readonly icon: IconName }[] = [
  { view: "chat", label: "nav.chat", icon: "chat" },
  { view: "overview", label: "nav.overview", icon: "overview" },
];
const THEMES: readonly { readonly id: ThemeChoice; readonly label: TextKey; readonly icon: IconName }[] = [
  { id: "system", label: "theme.system", icon: "system" },
  { id: "light", label: "theme.light", icon: "sun" },
  { id: "dark", label: "theme.dark", icon: "moon" },
];

/** The frame: top bar, navigation, the page, and what lies over it. */
export class OpenclawApp extends AppElement {
  static override properties = { ctx: { attribute: false }, collapsed: { state: true }, theme: { state: true }, name: { state: true } };
  declare ctx: AppContext;
  declare collapsed: boolean;
  declare theme: ThemeChoice;
  /** The assistant's, as the gateway names it. */
  declare name: string;
  #everConnected = false;

  constructor() {
    super();
    const settings = loadSettings();
    this.collapsed = settings.navCollapsed;
    this.theme = settings.theme;
    this.name = "";
  }

  protected override watched(): readonly Observable[] {
    return [this.ctx.client, this.ctx.router, this.ctx.overview];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#loadIdentity();
  }

  async #loadIdentity(): Promise<void> {
    try {
      const answer = await fetch(`${this.ctx.router.base}/__openclaw/control-ui-config.json`);
      const { assistantName } = (await answer.json()) as { assistantName?: string };
      this.name = assistantName ?? "";
    } catch {
      // Without it the assistant goes by its common name.
    }
  }

  protected override willUpdate(): void {
    const { client, router, chat } = this.ctx;
    const { hello } = client;
    if (!hello) return;
    this.#everConnected = true;
    const settings = loadSettings();
    const main = hello.snapshot.sessionDefaults.mainSessionKey;
    const wanted = router.session ?? (settings.lastActiveSessionKey || main);
    if (router.session !== wanted) router.adopt(wanted);
    if (wanted === chat.sessionKey) return;
    chat.open(wanted);
    saveSettings({ gatewayUrl: client.url, sessionKey: wanted, lastActiveSessionKey: wanted });
  }

  #status() {
    const { phase } = this.ctx.client;
    const [tone, text] =
      phase.kind === "connected"
        ? (["good", "status.connected"] as const)
        : phase.kind === "refused"
          ? (["bad", "status.refused"] as const)
          : phase.kind === "waiting" || this.#everConnected
            ? (["wait", phase.kind === "waiting" && phase.reason === "restart" ? "status.restarting" : "status.reconnecting"] as const)
            : (["wait", "status.connecting"] as const);
    return html`<span class="status-pill" role="status"><span class="dot ${tone}"></span><span class="status-text">${t(text)}</span></span>`;
  }

  #themes() {
    return html`<div class="segmented" role="radiogroup" aria-label=${t("theme.label")}>
      ${THEMES.map(
        (theme) => html`<label title=${t(theme.label)}><input type="radio" name="theme" value=${theme.id} aria-label=${t(theme.label)} .checked=${this.theme === theme.id}
          @change=${() => { setTheme(theme.id); this.theme = theme.id; }} />${icon(theme.icon)}</label>`,
      )}
    </div>`;
  }

  #languages() {
    return html`<label class="language"><span class="visually-hidden">${t("language.label")}</span>${icon("globe")}
      <select aria-label=${t("language.label")} @change=${(event: Event) => setLocale((event.target as HTMLSelectElement).value as Locale)}>
        ${LOCALES.map(({ id, name }) => html`<option value=${id} lang=${id} ?selected=${id === locale()}>${name}</option>`)}
      </select></label>`;
  }

  #link(view: View, label: TextKey, symbol: IconName) {
    const { router, overview, chat } = this.ctx;
    const waiting = view === "overview" ? overview.pairings.length + overview.pendingDevices.length + (overview.status.configError ? 1 : 0) : 0;
    return html`<a href=${router.href(view, view === "chat" ? chat.sessionKey : undefined)} aria-current=${router.view === view ? "page" : nothing} title=${t(label)}
      @click=${(event: MouseEvent) => { if (event.metaKey || event.ctrlKey || event.shiftKey) return; event.preventDefault(); router.go(view); }}>
      ${icon(symbol)}<span class="nav-label">${t(label)}</span>${waiting > 0 ? html`<span class="badge">${waiting}</span>` : nothing}</a>`;
  }

  #page() {
    const { client, router } = this.ctx;
    const { phase } = client;
    if (phase.kind === "refused") return html`<div class="center"><oc-connect-panel .client=${client} .failure=${phase.failure}></oc-connect-panel></div>`;
    if (!this.#everConnected) return html`<div class="center"><oc-connect-panel .client=${client}></oc-connect-panel></div>`;
    return router.view === "chat" ? html`<oc-chat-view .ctx=${this.ctx} .name=${this.name}></oc-chat-view>` : html`<oc-overview-view .ctx=${this.ctx}></oc-overview-view>`;
  }

  #banner() {
    const { client } = this.ctx;
    const { phase } = client;
    if (!this.#everConnected || phase.kind === "connected" || phase.kind === "refused") return nothing;
    const restart = phase.kind === "waiting" && phase.reason === "restart";
    return html`<div class="strip warn" role="status"><span class="spinner" aria-hidden="true"></span><span>${t(restart ? "banner.restart" : "banner.lost")}</span>
      <button type="button" class="button small" @click=${() => client.connect()}>${t("banner.retryNow")}</button></div>`;
  }

  #toggleNav(): void {
    this.collapsed = saveSettings({ navCollapsed: !this.collapsed }).navCollapsed;
  }

  protected override render() {
    const toggle = t(this.collapsed ? "nav.expand" : "nav.collapse");
    return html`
      <a class="skip" href="#main" @click=${(event: Event) => { event.preventDefault(); this.querySelector<HTMLElement>("#main")?.focus(); }}>${t("app.skip")}</a>
      <div class="frame ${this.collapsed ? "collapsed" : ""}">
        <header class="topbar">
          <button type="button" class="icon-button nav-toggle" aria-label=${toggle} title=${toggle} aria-expanded=${!this.collapsed} aria-controls="nav" @click=${() => this.#toggleNav()}>${icon("menu")}</button>
          <span class="brand">${logo()}<span class="brand-name">OpenClaw</span></span>
          <span class="spacer"></span>
          ${this.#status()}${this.#languages()}${this.#themes()}
        </header>
        <nav id="nav" class="nav" aria-label=${t("nav.label")}>${VIEWS.map(({ view, label, icon: symbol }) => this.#link(view, label, symbol))}</nav>
        <main id="main" tabindex="-1">${this.#banner()}${this.#page()}</main>
      </div>
      <oc-approval-dialog .ctx=${this.ctx}></oc-approval-dialog>
      <oc-toasts></oc-toasts>
    `;
  }
}

customElements.define("openclaw-app", OpenclawApp);
