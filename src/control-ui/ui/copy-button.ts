import { html } from "lit";
import { t } from "../i18n/index.ts";
import { copyText } from "./clipboard.ts";
import { AppElement } from "./element.ts";
import { icon } from "./icons.ts";

const SHOWN_MS = 1_600;

/** `<oc-copy .text=${…} label="…">`: an icon button that turns into a check mark once it copied. */
class OcCopy extends AppElement {
  static override properties = { text: { attribute: false }, label: {}, done: { state: true } };
  declare text: string;
  declare label: string;
  declare done: boolean;

  constructor() {
    super();
    this.text = "";
    this.label = "";
    this.done = false;
  }

  async #copy(): Promise<void> {
    if (!(await copyText(this.text))) return;
    this.done = true;
    setTimeout(() => (this.done = false), SHOWN_MS);
  }

  protected override render() {
    const name = this.done ? t("chat.copied") : this.label;
    return html`<button type="button" class="icon-button small" aria-label=${name} title=${name} @click=${() => this.#copy()}>
      ${icon(this.done ? "check" : "copy")}
    </button>`;
  }
}

customElements.define("oc-copy", OcCopy);

/** A command to run elsewhere, with a copy button. */
export const commandLine = (text: string) =>
  html`<div class="command"><pre class=${text.includes("\n") ? "lines" : ""} tabindex=${text.includes("\n") ? 0 : -1}><code>${text}</code></pre><oc-copy .text=${text} label=${t("copy.command", { text: text.split("\n")[0] ?? "" })}></oc-copy></div>`;
