import { html, nothing } from "lit";
import type { AppContext } from "../context.ts";
import { t } from "../i18n/index.ts";
import { AppElement } from "../ui/element.ts";
import { errorText } from "../ui/format.ts";
import type { Observable } from "../ui/observable.ts";
import { toasts } from "../ui/toast.ts";

type Decision = "allow-once" | "allow-always" | "deny";

/** Asks, wherever the person is in the app, whether a command may run. Closing it decides nothing. */
class OcApprovalDialog extends AppElement {
  static override properties = { ctx: { attribute: false } };
  declare ctx: AppContext;
  #clock: number | undefined;
  #dismissed = new Set<string>();

  protected override watched(): readonly Observable[] {
    return [this.ctx.overview];
  }

  get #current() {
    return this.ctx.overview.approvals.find((approval) => !this.#dismissed.has(approval.id));
  }

  protected override updated(): void {
    const dialog = this.querySelector("dialog");
    if (this.#current && dialog && !dialog.open) dialog.showModal();
    clearTimeout(this.#clock);
    if (this.#current) this.#clock = setTimeout(() => this.requestUpdate(), 1_000);
  }

  async #decide(id: string, decision: Decision): Promise<void> {
    this.ctx.overview.dropApproval(id);
    try {
      await this.ctx.client.request("exec.approval.resolve", { id, decision });
    } catch (err) {
      toasts.show(errorText(err), "error");
    }
  }

  protected override render() {
    const approval = this.#current;
    if (!approval) return nothing;
    const { id, request, expiresAtMs } = approval;
    const text = (key: string): string => (typeof request[key] === "string" ? request[key] : "");
    const rows = [
      ["approval.host", text("host")],
      ["approval.cwd", text("cwd")],
      ["approval.agent", text("agentId")],
      ["approval.session", text("sessionKey")],
      ["approval.resolved", text("resolvedPath")],
      ["approval.security", text("security")],
      ["approval.ask", text("ask")],
    ] as const;
    const more = this.ctx.overview.approvals.length - 1;
    return html`<dialog class="dialog approval" aria-labelledby="approval-title" @cancel=${() => { this.#dismissed.add(id); this.requestUpdate(); }}>
      <h2 id="approval-title">${t("approval.title")}</h2>
      <pre class="approval-command" tabindex="0"><code>${text("command")}</code></pre>
      <dl class="rows">${rows.map(([key, value]) => (value === "" ? nothing : html`<div><dt>${t(key)}</dt><dd>${value}</dd></div>`))}</dl>
      <p class="muted small-text">${t("approval.expires", { n: Math.max(0, Math.ceil((expiresAtMs - Date.now()) / 1000)) })}${more > 0 ? ` · ${t("approval.more", { n: more })}` : ""}</p>
      <div class="dialog-actions">
        <button type="button" class="button danger" autofocus @click=${() => this.#decide(id, "deny")}>${t("approval.deny")}</button>
        <button type="button" class="button" @click=${() => this.#decide(id, "allow-always")}>${t("approval.always")}</button>
        <button type="button" class="button primary" @click=${() => this.#decide(id, "allow-once")}>${t("approval.once")}</button>
      </div>
    </dialog>`;
  }
}

customElements.define("oc-approval-dialog", OcApprovalDialog);
