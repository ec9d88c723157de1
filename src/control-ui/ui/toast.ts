import { html } from "lit";
import { AppElement } from "./element.ts";
import { Observable } from "./observable.ts";

const SHOWN_MS = 5_000;

/** Short remarks at the edge of the page. */
class Toasts extends Observable {
  list: readonly { readonly id: number; readonly text: string; readonly tone: "info" | "error" }[] = [];
  #next = 1;

  show(text: string, tone: "info" | "error" = "info"): void {
    const id = this.#next++;
    this.list = [...this.list.slice(-2), { id, text, tone }];
    this.notify();
    setTimeout(() => {
      this.list = this.list.filter((toast) => toast.id !== id);
      this.notify();
    }, SHOWN_MS);
  }
}

export const toasts = new Toasts();

class OcToasts extends AppElement {
  protected override watched(): readonly Observable[] {
    return [toasts];
  }

  protected override render() {
    return html`<div class="toasts" role="status" aria-live="polite">
      ${toasts.list.map((toast) => html`<div class="toast toast-${toast.tone}">${toast.text}</div>`)}
    </div>`;
  }
}

customElements.define("oc-toasts", OcToasts);
