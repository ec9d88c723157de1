import { html, nothing, render } from "lit";
import { t } from "../i18n/index.ts";

export interface DialogOptions {
  readonly title: string;
  readonly body: string;
  readonly confirm: string;
  readonly danger?: boolean;
  /** Asks for a line of text, too. */
  readonly input?: { readonly label: string; readonly value: string; readonly hint?: string; readonly maxLength?: number };
}

/** Resolves with the text (or "") when confirmed, undefined when dismissed. Focus returns to where it was. */
export function askDialog(options: DialogOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    const host = document.createElement("dialog");
    host.className = "dialog";
    host.setAttribute("aria-labelledby", "dialog-title");
    const { input } = options;
    const submit = (event: Event): void => {
      event.preventDefault();
      host.returnValue = "ok";
      host.close("ok");
    };
    render(
      html`<form @submit=${submit}>
        <h2 id="dialog-title">${options.title}</h2>
        ${options.body === "" ? nothing : html`<p>${options.body}</p>`}
        ${input
          ? html`<label class="field"><span>${input.label}</span>
              <input name="text" .value=${input.value} maxlength=${input.maxLength ?? 64} autocomplete="off" autofocus />
              ${input.hint ? html`<small>${input.hint}</small>` : nothing}</label>`
          : nothing}
        <div class="dialog-actions">
          <button type="button" class="button" @click=${() => host.close("")} ?autofocus=${!input}>${t("dialog.cancel")}</button>
          <button type="submit" class="button ${options.danger ? "danger" : "primary"}">${options.confirm}</button>
        </div>
      </form>`,
      host,
    );
    host.addEventListener("click", (event) => {
      if (event.target === host) host.close("");
    });
    host.addEventListener("close", () => {
      const value = host.querySelector<HTMLInputElement>("input[name=text]")?.value ?? "";
      const confirmed = host.returnValue === "ok";
      host.remove();
      resolve(confirmed ? value : undefined);
    });
    document.body.append(host);
    host.showModal();
    host.querySelector<HTMLInputElement>("input[name=text]")?.select();
  });
}
