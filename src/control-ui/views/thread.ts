import { html, nothing } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { Item } from "../chat/items.ts";
import type { ChatStore } from "../chat/store.ts";
import { t } from "../i18n/index.ts";
import { AppElement } from "../ui/element.ts";
import { icon } from "../ui/icons.ts";
import type { Observable } from "../ui/observable.ts";
import "./message.ts";

const STICK_PX = 80;
const AWAY_PX = 300;

/** The scrolling conversation. It follows new text while the reader is at its end, and stays put while they read above. */
class OcThread extends AppElement {
  static override properties = { store: { attribute: false }, thinking: { type: Boolean }, name: {}, unseen: { state: true }, away: { state: true } };
  declare store: ChatStore;
  declare thinking: boolean;
  declare name: string;
  declare unseen: boolean;
  declare away: boolean;
  #stick = true;
  #top = 0;
  #jumps = -1;
  #lastCount = 0;
  #answers = 0;
  #announced = "";
  #resize: ResizeObserver | undefined;

  constructor() {
    super();
    this.thinking = true;
    this.name = "";
    this.unseen = false;
    this.away = false;
  }

  protected override watched(): readonly Observable[] {
    return [this.store];
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize?.disconnect();
    this.#resize = undefined;
  }

  get #box(): HTMLElement | null {
    return this.querySelector(".thread-scroll");
  }

  #onScroll(): void {
    const box = this.#box;
    if (!box) return;
    const below = box.scrollHeight - box.scrollTop - box.clientHeight;
    // Only the reader moves upwards; text that grew below meanwhile does not mean they left the end.
    if (below < STICK_PX) this.#stick = true;
    else if (box.scrollTop < this.#top - 1) this.#stick = false;
    this.#top = box.scrollTop;
    this.away = !this.#stick && below > AWAY_PX;
    if (this.#stick) this.unseen = false;
  }

  #toBottom(): void {
    const box = this.#box;
    if (!box) return;
    this.#stick = true;
    this.unseen = false;
    this.away = false;
    box.scrollTop = box.scrollHeight;
    this.#top = box.scrollTop;
  }

  async #earlier(): Promise<void> {
    const box = this.#box;
    const before = box?.scrollHeight ?? 0;
    this.#stick = false;
    await this.store.loadEarlier();
    await this.updateComplete;
    if (box) box.scrollTop += box.scrollHeight - before;
  }

  protected override updated(): void {
    const { store } = this;
    const column = this.querySelector(".thread-column");
    if (column && !this.#resize) {
      // Pictures and opened cards change the height after the fact.
      this.#resize = new ResizeObserver(() => this.#stick && this.#toBottom());
      this.#resize.observe(column);
    }
    const total = store.items.length + store.runs.reduce((sum, run) => sum + run.segments.length, 0);
    if (store.jumps !== this.#jumps) {
      this.#jumps = store.jumps;
      this.#toBottom();
    } else if (this.#stick) this.#toBottom();
    else if (total > this.#lastCount && this.#lastCount > 0 && !this.unseen && this.away) this.unseen = true;
    this.#lastCount = total;
  }

  #announcement(): string {
    const { store } = this;
    const name = this.name || t("chat.assistant");
    if (store.items.length === 0) this.#announced = "";
    if (store.busy) this.#announced = t("chat.working", { name });
    else if (store.answers !== this.#answers) {
      const last = store.items.findLast((item) => item.kind === "assistant");
      this.#announced = last?.kind === "assistant" ? `${t("chat.answered", { name })}: ${last.text.slice(0, 400)}` : "";
    }
    this.#answers = store.answers;
    return this.#announced;
  }

  #row(item: Item) {
    return html`<oc-message .item=${item} .thinking=${this.thinking} .name=${this.name}></oc-message>`;
  }

  protected override render() {
    const { store } = this;
    const live = store.runs.flatMap((run) => run.segments);
    const all = [...store.items, ...live];
    const waiting = store.busy && store.runs.some((run) => run.waiting);
    return html`
      <div class="thread-scroll" tabindex="0" role="log" aria-live="off" aria-label=${t("chat.thread")} aria-busy=${store.loading && !store.loaded} @scroll=${() => this.#onScroll()}
        @retry-item=${(event: CustomEvent<Item>) => store.retry(event.detail)} @dismiss-item=${(event: CustomEvent<Item>) => store.dismiss(event.detail.id)}>
        <div class="thread-column">
          ${store.hasEarlier ? html`<button type="button" class="button small ghost earlier" ?disabled=${store.loading} @click=${() => this.#earlier()}>${t("chat.earlier")}</button>` : nothing}
          ${repeat(all, (item) => item.id, (item) => this.#row(item))}
          ${waiting ? html`<div class="working"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span><span>${t("chat.working.short")}</span></div>` : nothing}
        </div>
      </div>
      ${this.away
        ? html`<button type="button" class="to-bottom ${this.unseen ? "fresh" : ""}" aria-label=${t(this.unseen ? "chat.newMessages" : "chat.toBottom")} @click=${() => this.#toBottom()}>
            ${icon("down")}${this.unseen ? html`<span>${t("chat.newMessages")}</span>` : nothing}
          </button>`
        : nothing}
      <div class="visually-hidden" role="status" aria-live="polite">${this.#announcement()}</div>
    `;
  }
}

customElements.define("oc-thread", OcThread);
