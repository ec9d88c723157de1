import { html, nothing } from "lit";
import type { GatewayClient } from "../gateway/client.ts";
import type { ConnectFailure, FailureKind } from "../gateway/failure.ts";
import { loadSettings, saveSettings } from "../gateway/storage.ts";
import { t } from "../i18n/index.ts";
import type { TextKey } from "../i18n/index.ts";
import { commandLine } from "../ui/copy-button.ts";
import { AppElement } from "../ui/element.ts";
import { icon, logo } from "../ui/icons.ts";
import type { Observable } from "../ui/observable.ts";
import { tokenFromInput } from "../ui/router.ts";

const TEXTS: Readonly<Record<FailureKind, readonly [TextKey, TextKey]>> = {
  "token-missing": ["connect.tokenMissing.title", "connect.tokenMissing.body"],
  "token-mismatch": ["connect.tokenMismatch.title", "connect.tokenMismatch.body"],
  password: ["connect.password.title", "connect.password.body"],
  pairing: ["connect.pairing.title", "connect.pairing.body"],
  origin: ["connect.origin.title", "connect.origin.body"],
  insecure: ["connect.insecure.title", "connect.insecure.body"],
  protocol: ["connect.protocol.title", "connect.protocol.body"],
  "rate-limited": ["connect.rateLimited.title", "connect.rateLimited.body"],
  clock: ["connect.clock.title", "connect.clock.body"],
  other: ["connect.other.title", "connect.other.body"],
};

/** What stands between this browser and the gateway, and the way past it. */
class OcConnectPanel extends AppElement {
  static override properties = { client: { attribute: false }, failure: { attribute: false }, shown: { state: true } };
  declare client: GatewayClient;
  declare failure: ConnectFailure | undefined;
  declare shown: boolean;

  constructor() {
    super();
    this.failure = undefined;
    this.shown = false;
  }

  protected override watched(): readonly Observable[] {
    return [this.client];
  }

  protected override firstUpdated(): void {
    this.querySelector<HTMLInputElement>("input")?.focus();
  }

  #submit(event: SubmitEvent): void {
    event.preventDefault();
    const input = this.querySelector<HTMLInputElement>("input[name=secret]");
    const value = input?.value ?? "";
    if (value.trim() === "") return input?.focus();
    if (this.failure?.kind === "password") this.client.password = value;
    else saveSettings({ token: tokenFromInput(value) });
    this.client.connect();
  }

  #form(kind: "token" | "password") {
    const hint = t(kind === "token" ? "connect.tokenHint" : "connect.passwordHint");
    return html`<form class="secret-form" @submit=${(event: SubmitEvent) => this.#submit(event)}>
      <label class="field" for="secret">${t(kind === "token" ? "connect.token" : "connect.password")}</label>
      <div class="secret-row">
        <input id="secret" name="secret" type=${this.shown ? "text" : "password"} autocomplete=${kind === "token" ? "off" : "current-password"} spellcheck="false" aria-describedby="secret-hint"
          aria-invalid=${this.failure?.kind === "token-mismatch"} .value=${""} />
        <button type="button" class="button" aria-pressed=${this.shown} @click=${() => (this.shown = !this.shown)}>${t(this.shown ? "connect.hide" : "connect.show")}</button>
      </div>
      <small id="secret-hint">${hint}</small>
      <button type="submit" class="button primary wide">${t("connect.submit")}</button>
    </form>`;
  }

  #remedy(failure: ConnectFailure) {
    const retry = html`<button type="button" class="button primary" @click=${() => this.client.connect()}>${icon("refresh")}${t("connect.retry")}</button>`;
    switch (failure.kind) {
      case "token-missing":
      case "token-mismatch":
        return html`${commandLine("openclaw dashboard --no-open")}${this.#form("token")}`;
      case "password":
        return this.#form("password");
      case "pairing":
        return html`<h3>${t("connect.pairing.list")}</h3>${commandLine("openclaw devices list")}
          <h3>${t("connect.pairing.approve")}</h3>${commandLine(`openclaw devices approve ${failure.requestId ?? "<requestId>"}`)}
          <p class="waiting-line"><span class="spinner" aria-hidden="true"></span>${t("connect.pairing.waiting")}</p>${retry}`;
      case "origin":
        return html`${commandLine(`openclaw config set gateway.controlUi.allowedOrigins '["${location.origin}"]'`)}${retry}`;
      case "insecure":
        return html`${commandLine(`ssh -N -L 18789:127.0.0.1:${location.port || "18789"} ${location.hostname}`)}${commandLine("http://localhost:18789/")}${retry}`;
      case "protocol":
        return html`<button type="button" class="button primary" @click=${() => location.reload()}>${icon("refresh")}${t("connect.reload")}</button>`;
      case "rate-limited":
      case "clock":
        return retry;
      case "other":
        return html`${commandLine("openclaw logs --follow")}${retry}${loadSettings().token === "" ? this.#form("token") : nothing}`;
    }
  }

  protected override render() {
    const { failure } = this;
    if (!failure) {
      return html`<div class="connect-card quiet" role="status">${logo()}<p><span class="spinner" aria-hidden="true"></span>${t("connect.connecting")}</p></div>`;
    }
    const [title, body] = TEXTS[failure.kind];
    return html`<section class="connect-card" aria-labelledby="connect-title" data-failure=${failure.kind}>
      ${logo()}
      <div role="alert"><h1 id="connect-title">${t(title)}</h1><p>${t(body)}</p></div>
      ${this.#remedy(failure)}
      <p class="said">${t("connect.gatewaySays", { message: failure.message })}</p>
    </section>`;
  }
}

customElements.define("oc-connect-panel", OcConnectPanel);
