import { html, nothing } from "lit";
import type { TemplateResult } from "lit";
import type { AppContext } from "../context.ts";
import { dropDeviceToken, IDENTITY_KEY, loadSettings, remove, saveSettings } from "../gateway/storage.ts";
import { t } from "../i18n/index.ts";
import type { ChannelAccount, ChannelPairing, SessionRow } from "../overview-store.ts";
import { commandLine } from "../ui/copy-button.ts";
import { askDialog } from "../ui/dialog.ts";
import { AppElement } from "../ui/element.ts";
import { clockTime, count, duration, errorText, relativeTime } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import type { Observable } from "../ui/observable.ts";
import { tokenFromInput } from "../ui/router.ts";
import { sessionName } from "../ui/session-name.ts";
import { toasts } from "../ui/toast.ts";

const UPTIME_STEP_MS = 1_000;
const FIRST_SESSIONS = 8;

/** The gateway at a glance, and what waits for a decision. */
class OcOverviewView extends AppElement {
  static override properties = { ctx: { attribute: false }, acting: { state: true }, search: { state: true }, all: { state: true } };
  declare ctx: AppContext;
  /** Ids of what is being approved, rejected, removed. */
  declare acting: ReadonlySet<string>;
  declare search: string;
  declare all: boolean;
  #unwatch: (() => void) | undefined;
  #clock: number | undefined;

  constructor() {
    super();
    this.acting = new Set();
    this.search = "";
    this.all = false;
  }

  protected override watched(): readonly Observable[] {
    return [this.ctx.overview, this.ctx.client];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unwatch = this.ctx.overview.watch();
    this.#clock = setInterval(() => this.requestUpdate(), UPTIME_STEP_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unwatch?.();
    clearInterval(this.#clock);
  }

  async #act(id: string, method: string, params: object, done: string): Promise<void> {
    if (this.acting.has(id)) return;
    this.acting = new Set([...this.acting, id]);
    try {
      await this.ctx.client.request(method, params);
      if (done !== "") toasts.show(done);
    } catch (err) {
      toasts.show(errorText(err), "error");
    }
    this.acting = new Set([...this.acting].filter((other) => other !== id));
    await this.ctx.overview.refresh();
  }

  #loadError(part: string) {
    const message = this.ctx.overview.errors[part];
    return message ? html`<p class="bad small-text" role="alert">${t("overview.loadFailed", { message })}</p>` : nothing;
  }

  // ---- top ----

  #tiles() {
    const { overview, client } = this.ctx;
    const phase = client.phase;
    const hello = client.hello;
    const uptime = hello && phase.kind === "connected" ? hello.snapshot.uptimeMs + Date.now() - phase.sinceMs : undefined;
    const good = hello !== undefined && overview.healthy !== false && !overview.status.configError;
    const { model } = overview;
    const tile = (label: string, value: unknown, tone = "") => html`<div class="tile ${tone}"><dt>${label}</dt><dd>${value}</dd></div>`;
    return html`<dl class="tiles">
      ${tile(t("overview.health"), html`<span class="dot ${good ? "good" : "bad"}"></span>${t(good ? "overview.health.ok" : "overview.health.bad")}`)}
      ${tile(t("overview.uptime"), uptime === undefined ? "–" : duration(uptime))}
      ${tile(t("overview.version"), hello?.server.version ?? "–")}
      ${tile(t("overview.model"), model.offline || !model.ref ? t("overview.model.none") : model.ref, "wide")}
      ${tile(t("overview.sessions.count"), count(overview.status.sessions?.count ?? overview.sessions.length))}
    </dl>`;
  }

  #banners() {
    const { overview, client } = this.ctx;
    const { configError } = overview.status;
    const update = client.hello?.snapshot.updateAvailable;
    return html`
      ${configError
        ? html`<div class="callout bad" role="alert">${icon("alert")}<div class="callout-text"><strong>${t("overview.configError.title")}</strong>
            <p><code>${configError.path ?? ""}</code> ${configError.message ?? ""}</p>
            <p>${t("overview.configError.body", { path: client.hello?.snapshot.configPath ?? "openclaw.json" })}</p></div></div>`
        : nothing}
      ${update
        ? html`<div class="callout info">${icon("refresh")}<div class="callout-text"><p>${t("overview.update", { latest: update.latestVersion, current: update.currentVersion })}</p>${commandLine("openclaw update")}</div></div>`
        : nothing}
    `;
  }

  // ---- model ----

  #model() {
    const { model } = this.ctx.overview;
    const none = model.offline || model.ref === "";
    const known = this.ctx.overview.updatedAt > 0;
    const way = (title: string, body: string, command: string, more: string) =>
      html`<li><h3>${title}</h3><p>${body}</p>${commandLine(command)}${more === "" ? nothing : html`<p class="muted small-text">${more}</p>`}</li>`;
    return html`<section class="card ${none ? "span" : ""}" id="model" aria-labelledby="model-title">
      <h2 id="model-title">${t("model.title")}</h2>
      <dl class="rows">
        <div><dt>${t("model.inUse")}</dt><dd>${model.offline ? t("model.offline") : model.ref || "–"}</dd></div>
        ${model.reason ? html`<div><dt>${t("model.why")}</dt><dd>${model.reason}</dd></div>` : nothing}
      </dl>
      ${this.#loadError("status")}
      ${none && known
        ? html`<div class="ways"><h3>${t("model.connect.title")}</h3><p class="muted">${t("model.connect.body")}</p>
            <ol>
              ${way(t("model.cloud.title"), t("model.cloud.body"), "export ANTHROPIC_API_KEY=sk-ant-…\nopenclaw gateway", t("model.cloud.more"))}
              ${way(t("model.local.title"), t("model.local.body"), "ollama pull qwen3", t("model.local.more"))}
              ${way(t("model.custom.title"), t("model.custom.body"), CUSTOM_PROVIDER, this.ctx.client.hello?.snapshot.configPath ?? "")}
            </ol></div>`
        : nothing}
    </section>`;
  }

  // ---- channels ----

  #pairing(request: ChannelPairing) {
    const id = `channel:${request.channel}:${request.code}`;
    const name = personOf(request);
    const params = { channel: request.channel, code: request.code, ...(request.accountId ? { accountId: request.accountId } : {}) };
    const asked = typeof request.createdAt === "string" ? Date.parse(request.createdAt) : request.createdAt;
    const label = this.ctx.overview.channels.channelLabels?.[request.channel] ?? request.channel;
    return html`<li class="request">
      <div class="request-who"><strong dir="auto">${name}</strong>
        <span class="muted">${label} · ${t("pairing.code")} <code>${request.code}</code>${asked ? html` · ${t("pairing.expires", { time: relativeTime(asked) })}` : nothing}</span></div>
      ${this.#decide(id, name, (approve) => this.#act(id, approve ? "channels.pairing.approve" : "channels.pairing.reject", params, t(approve ? "pairing.approved" : "pairing.rejected", { name })))}
    </li>`;
  }

  #decide(id: string, name: string, decide: (approve: boolean) => Promise<void>) {
    const busy = this.acting.has(id);
    return html`<div class="request-actions">
      <button type="button" class="button small primary" ?disabled=${busy} aria-label=${`${t("pairing.approve")}: ${name}`} @click=${() => decide(true)}>${t("pairing.approve")}</button>
      <button type="button" class="button small" ?disabled=${busy} aria-label=${`${t("pairing.reject")}: ${name}`} @click=${() => decide(false)}>${t("pairing.reject")}</button>
    </div>`;
  }

  #channels() {
    const { overview } = this.ctx;
    const { channelAccounts = {}, channelLabels = {} } = overview.channels;
    const order = overview.channels.channelOrder ?? Object.keys(channelAccounts);
    const accounts = order.flatMap((channel) => (channelAccounts[channel] ?? []).map((account) => ({ channel, account })));
    const shown = accounts.filter(({ account }) => account.configured !== false && account.enabled !== false);
    return html`<section class="card" aria-labelledby="channels-title">
      <h2 id="channels-title">${t("channels.title")}</h2>
      ${this.#loadError("channels")}${this.#loadError("pairings")}
      ${overview.pairings.length > 0
        ? html`<div class="requests"><h3>${t("pairing.title")} <span class="badge">${overview.pairings.length}</span></h3><p class="muted small-text">${t("pairing.channel.body")}</p>
            <ul>${overview.pairings.map((request) => this.#pairing(request))}</ul></div>`
        : nothing}
      ${shown.length === 0
        ? html`<p class="muted">${t("channels.none")}</p><p class="muted small-text">${t("channels.none.body")}</p>${commandLine("openclaw channels add --channel telegram --token <token>")}`
        : html`<ul class="list">${shown.map(({ channel, account }) => channelRow(channelLabels[channel] ?? channel, account))}</ul>`}
    </section>`;
  }

  // ---- devices ----

  #devices() {
    const { overview, client } = this.ctx;
    const own = client.hello && readOwnDeviceId();
    return html`<section class="card" aria-labelledby="devices-title">
      <h2 id="devices-title">${t("devices.title")}</h2>
      ${this.#loadError("devices")}
      ${overview.pendingDevices.length === 0
        ? html`<p class="muted small-text">${t("devices.none")}</p>`
        : html`<div class="requests"><h3>${t("devices.pending")} <span class="badge">${overview.pendingDevices.length}</span></h3><ul>
            ${overview.pendingDevices.map((device) => {
              const name = device.displayName || [device.platform, device.clientId].filter(Boolean).join(" · ") || t("devices.unnamed");
              const id = `device:${device.requestId}`;
              return html`<li class="request"><div class="request-who"><strong>${name}</strong>
                  <span class="muted">${[device.remoteIp, device.role, relativeTime(device.ts)].filter(Boolean).join(" · ")}</span>
                  <span class="muted">${t("devices.scopes", { scopes: device.scopes.map((scope) => scope.replace(/^operator\./, "")).join(", ") || "–" })}</span></div>
                ${this.#decide(id, name, (approve) => this.#act(id, approve ? "device.pair.approve" : "device.pair.reject", { requestId: device.requestId }, t(approve ? "devices.approved" : "pairing.rejected", { name })))}
              </li>`;
            })}</ul></div>`}
      ${overview.pairedDevices.length === 0
        ? nothing
        : html`<h3>${t("devices.paired")}</h3><ul class="list">
            ${overview.pairedDevices.map((device) => {
              const name = device.displayName || [clientName(device.clientId), device.platform].filter(Boolean).join(" · ") || t("devices.unnamed");
              const last = Math.max(0, ...device.tokens.map((token) => token.lastUsedAtMs ?? 0));
              return html`<li class="row"><span class="row-main"><span class="row-title">${name}${device.deviceId === own ? html`<span class="tag">${t("devices.this")}</span>` : nothing}</span>
                  <span class="muted">${[device.roles.join(", "), last > 0 ? t("devices.lastUsed", { time: relativeTime(last) }) : ""].filter(Boolean).join(" · ")}</span></span>
                ${device.deviceId === own ? nothing : html`<button type="button" class="icon-button small" aria-label=${`${t("devices.remove")}: ${name}`} title=${t("devices.remove")} @click=${() => this.#removeDevice(device.deviceId, name)}>${icon("trash")}</button>`}</li>`;
            })}</ul>`}
    </section>`;
  }

  async #removeDevice(deviceId: string, name: string): Promise<void> {
    const answer = await askDialog({ title: t("devices.remove.title"), body: t("devices.remove.body", { name }), confirm: t("devices.remove"), danger: true });
    if (answer !== undefined) await this.#act(`remove:${deviceId}`, "device.pair.remove", { deviceId }, "");
  }

  // ---- sessions ----

  async #rename(row: SessionRow): Promise<void> {
    const label = await askDialog({
      title: t("sessions.rename.title"),
      body: "",
      confirm: t("dialog.save"),
      input: { label: t("sessions.rename.label"), value: row.label ?? "", hint: t("sessions.rename.hint"), maxLength: 64 },
    });
    if (label !== undefined) await this.#act(`rename:${row.key}`, "sessions.patch", { key: row.key, label: label.trim() || null }, "");
  }

  async #delete(row: SessionRow): Promise<void> {
    const name = sessionName(row.key, row);
    const answer = await askDialog({ title: t("sessions.delete.title"), body: t("sessions.delete.body", { name }), confirm: t("sessions.delete"), danger: true });
    if (answer !== undefined) await this.#act(`delete:${row.key}`, "sessions.delete", { key: row.key }, t("sessions.deleted", { name }));
  }

  #session(row: SessionRow) {
    const { router, client } = this.ctx;
    const name = sessionName(row.key, row);
    const main = row.key === client.hello?.snapshot.sessionDefaults.mainSessionKey;
    const facts = [row.updatedAt ? relativeTime(row.updatedAt) : "", row.channel ?? "", tokensOf(row)].filter(Boolean).join(" · ");
    return html`<li class="row">
      <a class="row-main" href=${router.href("chat", row.key)} @click=${(event: Event) => { event.preventDefault(); router.go("chat", row.key); }}>
        <span class="row-title" dir="auto">${name}</span>
        ${row.lastMessagePreview ? html`<span class="row-preview" dir="auto">${row.lastMessagePreview}</span>` : nothing}
        <span class="muted">${facts}</span>
      </a>
      <span class="row-actions">
        <button type="button" class="icon-button small" aria-label=${`${t("sessions.rename")}: ${name}`} title=${t("sessions.rename")} @click=${() => this.#rename(row)}>${icon("edit")}</button>
        ${main ? nothing : html`<button type="button" class="icon-button small" aria-label=${`${t("sessions.delete")}: ${name}`} title=${t("sessions.delete")} @click=${() => this.#delete(row)}>${icon("trash")}</button>`}
      </span>
    </li>`;
  }

  #sessions() {
    const { sessions } = this.ctx.overview;
    const wanted = this.search.trim().toLowerCase();
    const found = wanted === "" ? sessions : sessions.filter((row) => `${sessionName(row.key, row)} ${row.key} ${row.lastMessagePreview ?? ""}`.toLowerCase().includes(wanted));
    const shown = this.all || wanted !== "" ? found : found.slice(0, FIRST_SESSIONS);
    return html`<section class="card" aria-labelledby="sessions-title">
      <div class="card-head"><h2 id="sessions-title">${t("sessions.title")}</h2>
        ${sessions.length > FIRST_SESSIONS ? html`<input type="search" class="search" placeholder=${t("sessions.search")} aria-label=${t("sessions.search")} .value=${this.search} @input=${(event: Event) => (this.search = (event.target as HTMLInputElement).value)} />` : nothing}</div>
      ${this.#loadError("sessions")}
      ${sessions.length === 0 ? html`<p class="muted">${t("sessions.none")}</p>` : found.length === 0 ? html`<p class="muted">${t("sessions.noMatch")}</p>` : html`<ul class="list">${shown.map((row) => this.#session(row))}</ul>`}
      ${shown.length < found.length ? html`<button type="button" class="button small ghost" @click=${() => (this.all = true)}>${t("sessions.more", { n: found.length })}</button>` : nothing}
    </section>`;
  }

  // ---- connection ----

  #navigate(event: SubmitEvent): void {
    event.preventDefault();
    const input = this.querySelector<HTMLInputElement>("input[name=gateway]");
    const target = toGatewayPage(input?.value ?? "");
    if (target) location.assign(target);
    else {
      toasts.show(t("connection.other.bad"), "error");
      input?.focus();
    }
  }

  async #changeToken(): Promise<void> {
    const value = await askDialog({ title: t("connection.token.change"), body: t("connect.tokenHint"), confirm: t("connect.submit"), input: { label: t("connect.token"), value: "", maxLength: 4096 } });
    if (!value?.trim()) return;
    saveSettings({ token: tokenFromInput(value) });
    this.ctx.client.connect();
  }

  async #forget(): Promise<void> {
    const answer = await askDialog({ title: t("connection.forget.title"), body: t("connection.forget.body"), confirm: t("connection.forget"), danger: true });
    if (answer === undefined) return;
    saveSettings({ token: "" });
    dropDeviceToken();
    remove(IDENTITY_KEY);
    location.reload();
  }

  #connection() {
    const { client } = this.ctx;
    return html`<section class="card" aria-labelledby="connection-title">
      <h2 id="connection-title">${t("connection.title")}</h2>
      <dl class="rows">
        <div><dt>${t("connection.address")}</dt><dd><code>${client.url}</code></dd></div>
        <div><dt>${t("connection.paths")}</dt><dd><code>${client.hello?.snapshot.configPath || "–"}</code></dd></div>
        <div><dt>${t("connection.token")}</dt><dd>${t(loadSettings().token === "" ? "connection.token.unset" : "connection.token.set")}</dd></div>
      </dl>
      <div class="button-row">
        <button type="button" class="button small" @click=${() => this.#changeToken()}>${icon("key")}${t("connection.token.change")}</button>
        <button type="button" class="button small ghost" @click=${() => this.#forget()}>${t("connection.forget")}</button>
      </div>
      <form class="other" @submit=${(event: SubmitEvent) => this.#navigate(event)}>
        <label class="field" for="gateway">${t("connection.other")}</label>
        <div class="secret-row"><input id="gateway" name="gateway" inputmode="url" autocomplete="off" spellcheck="false" placeholder="http://192.168.1.20:18789" aria-describedby="gateway-hint" />
          <button type="submit" class="button">${t("connection.other.go")}</button></div>
        <small id="gateway-hint">${t("connection.other.hint")}</small>
      </form>
    </section>`;
  }

  protected override render(): TemplateResult {
    const { overview } = this.ctx;
    const noModel = overview.model.offline || overview.model.ref === "";
    return html`<div class="page">
      <header class="page-head"><div><h1>${t("overview.title")}</h1><p class="muted">${t("overview.subtitle")}</p></div>
        <span class="muted small-text">${overview.updatedAt > 0 ? t("overview.updated", { time: clockTime(overview.updatedAt) }) : nothing}</span>
        <button type="button" class="icon-button" aria-label=${t("chat.refresh")} title=${t("chat.refresh")} @click=${() => overview.refresh()}>${icon("refresh")}</button></header>
      ${this.#banners()}${this.#tiles()}
      ${noModel ? this.#model() : nothing}
      <div class="columns"><div class="column">${this.#channels()}${noModel ? nothing : this.#model()}${this.#devices()}</div><div class="column">${this.#sessions()}${this.#connection()}</div></div>
    </div>`;
  }
}

customElements.define("oc-overview-view", OcOverviewView);

const CUSTOM_PROVIDER = `models: {
  providers: {
    mine: {
      baseUrl: "https://api.example.com/v1",
      api: "openai-completions",
      apiKey: "\${MY_API_KEY}",
      models: [{ id: "my-model", name: "My model" }],
    },
  },
},`;

const clientName = (clientId: string | undefined): string => (clientId === "openclaw-control-ui" ? "Control UI" : (clientId ?? "").replace(/^openclaw-/, ""));

function readOwnDeviceId(): string | undefined {
  try {
    return (JSON.parse(localStorage.getItem(IDENTITY_KEY) ?? "null") as { deviceId?: string } | null)?.deviceId;
  } catch {
    return undefined; // No identity: no row is this browser's.
  }
}

function personOf(request: ChannelPairing): string {
  const meta = request.meta ?? {};
  const first = ["name", "displayName", "username", "firstName"].map((key) => meta[key]).find((value) => typeof value === "string" && value !== "");
  return typeof first === "string" && first !== request.id ? `${first} (${request.id})` : request.id;
}

function tokensOf(row: SessionRow): string {
  if (!row.totalTokens || !row.contextTokens) return "";
  return t("sessions.tokens", { used: count(row.totalTokens), total: count(row.contextTokens) });
}

function channelRow(label: string, account: ChannelAccount) {
  const state = account.lastError && !account.connected ? "error" : account.connected ? "connected" : account.running ? "running" : account.configured === false ? "unconfigured" : "stopped";
  const tone = { error: "bad", connected: "good", running: "good", unconfigured: "idle", stopped: "idle" }[state];
  const named = account.name || (account.accountId && account.accountId !== "default" ? account.accountId : "");
  const facts = [
    account.mode ?? "",
    account.lastInboundAt ? t("channels.lastInbound", { time: relativeTime(account.lastInboundAt) }) : "",
    account.reconnectAttempts ? t("channels.attempts", { n: account.reconnectAttempts }) : "",
  ].filter(Boolean);
  return html`<li class="row channel"><span class="row-main">
      <span class="row-title">${label}${named ? html`<span class="muted">${named}</span>` : nothing}<span class="state"><span class="dot ${tone}"></span>${t(`channels.state.${state}`)}</span></span>
      ${facts.length > 0 ? html`<span class="muted">${facts.join(" · ")}</span>` : nothing}
      ${account.lastError ? html`<span class="bad row-error" dir="auto">${account.lastError}</span>` : nothing}
    </span></li>`;
}

/** The page of another gateway; undefined when the text is no address. */
function toGatewayPage(text: string): string | undefined {
  const trimmed = text.trim().replace(/^ws/i, "http");
  if (trimmed === "") return undefined;
  try {
    const url = new URL(/^https?:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}
