import { LitElement } from "lit";
import { onLocaleChange } from "../i18n/index.ts";
import type { Observable } from "./observable.ts";

/** A component in the page's own tree (one style sheet, labels by id), redrawn when what it watches or the language changes. */
export abstract class AppElement extends LitElement {
  readonly #undo: (() => void)[] = [];

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** What to redraw for while on the page. */
  protected watched(): readonly Observable[] {
    return [];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#undo.push(onLocaleChange(() => this.requestUpdate()));
    for (const source of this.watched()) this.#undo.push(source.observe(() => this.requestUpdate()));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const undo of this.#undo.splice(0)) undo();
  }
}
