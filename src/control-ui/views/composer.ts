import { html, nothing } from "lit";
import { AttachmentError, dataUrl, MAX_IMAGES, readImage } from "../chat/attachments.ts";
import type { Attachment, AttachmentProblem } from "../chat/attachments.ts";
import { offeredCommands, suggest } from "../chat/commands.ts";
import type { GatewayCommand, Suggestion } from "../chat/commands.ts";
import type { ChatStore } from "../chat/store.ts";
import type { GatewayClient } from "../gateway/client.ts";
import { readJson, writeJson } from "../gateway/storage.ts";
import { t } from "../i18n/index.ts";
import type { TextKey } from "../i18n/index.ts";
import { AppElement } from "../ui/element.ts";
import { textDirection } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import type { Observable } from "../ui/observable.ts";
import { toasts } from "../ui/toast.ts";

const MAX_HEIGHT_PX = 220;
const draftKey = (sessionKey: string): string => `openclaw.control.draft.v1:${sessionKey}`;

const PROBLEMS: Readonly<Record<AttachmentProblem, TextKey>> = {
  "not-an-image": "composer.onlyImages",
  "too-large": "composer.tooLarge",
  unreadable: "composer.unreadable",
};

/** Where a message is written: text, images, commands, the queue above it. Drafts survive a reload. */
class OcComposer extends AppElement {
  static override properties = {
    store: { attribute: false },
    client: { attribute: false },
    commands: { attribute: false },
    text: { state: true },
    attachments: { state: true },
    choice: { state: true },
    closed: { state: true },
    dragging: { state: true },
  };
  declare store: ChatStore;
  declare client: GatewayClient;
  declare commands: readonly GatewayCommand[];
  declare text: string;
  declare attachments: readonly Attachment[];
  declare choice: number;
  declare closed: boolean;
  declare dragging: boolean;
  #session = "";
  #dragDepth = 0;

  constructor() {
    super();
    this.commands = [];
    this.text = "";
    this.attachments = [];
    this.choice = 0;
    this.closed = false;
    this.dragging = false;
  }

  protected override watched(): readonly Observable[] {
    return [this.store, this.client];
  }

  get #area(): HTMLTextAreaElement | null {
    return this.querySelector("textarea");
  }

  override focus(): void {
    this.#area?.focus();
  }

  /** Puts a text in, ready to be sent. */
  insert(text: string): void {
    this.#setText(text);
    this.focus();
  }

  addFiles(files: Iterable<File>): void {
    for (const file of files) void this.#addFile(file);
  }

  async #addFile(file: File): Promise<void> {
    if (this.attachments.length >= MAX_IMAGES) return toasts.show(t("composer.tooMany", { n: MAX_IMAGES }), "error");
    try {
      const image = await readImage(file);
      if (this.attachments.length < MAX_IMAGES) this.attachments = [...this.attachments, image];
    } catch (err) {
      const problem = err instanceof AttachmentError ? err.problem : "unreadable";
      toasts.show(t(PROBLEMS[problem], { name: err instanceof AttachmentError ? err.file : file.name }), "error");
    }
  }

  protected override willUpdate(): void {
    if (this.store.sessionKey === this.#session) return;
    this.#session = this.store.sessionKey;
    const draft = readJson(draftKey(this.#session), sessionStorage);
    this.text = typeof draft === "string" ? draft : "";
    this.attachments = [];
    this.closed = true;
  }

  protected override updated(): void {
    const area = this.#area;
    if (!area) return;
    if (area.value !== this.text) area.value = this.text;
    // Through the object model: style attributes are not allowed on this page.
    area.style.setProperty("height", "auto");
    area.style.setProperty("height", `${Math.min(area.scrollHeight, MAX_HEIGHT_PX)}px`);
    area.style.setProperty("overflow-y", area.scrollHeight > MAX_HEIGHT_PX ? "auto" : "hidden");
    this.querySelector(".suggestion.chosen")?.scrollIntoView({ block: "nearest" });
  }

  #setText(text: string): void {
    this.text = text;
    this.choice = 0;
    this.closed = false;
    writeJson(draftKey(this.#session), text, sessionStorage);
  }

  get #suggestions(): readonly Suggestion[] {
    return this.closed ? [] : suggest(this.text, offeredCommands(this.commands));
  }

  #take(suggestion: Suggestion): void {
    this.#setText(suggestion.insert);
    if (suggestion.complete && !suggestion.insert.endsWith(" ")) this.closed = true;
    this.focus();
  }

  #send(): void {
    const text = this.text.trim();
    if (text === "" && this.attachments.length === 0) return;
    this.store.send(text, this.attachments);
    this.attachments = [];
    this.#setText("");
    this.focus();
  }

  #onKey(event: KeyboardEvent): void {
    // While an input method composes, Enter and the arrows are its own.
    if (event.isComposing || event.keyCode === 229) return;
    const options = this.#suggestions;
    const chosen = options[this.choice];
    if (chosen) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        this.choice = (this.choice + step + options.length) % options.length;
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        this.closed = true;
        return;
      }
      const typed = chosen.insert.trim() === this.text.trim();
      if (event.key === "Tab" && !event.shiftKey) {
        event.preventDefault();
        return this.#take(chosen);
      }
      if (event.key === "Enter" && !event.shiftKey && !typed) {
        event.preventDefault();
        return this.#take(chosen);
      }
    }
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#send();
    } else if (event.key === "Escape" && this.store.busy) {
      event.preventDefault();
      void this.store.abort();
    } else if (event.key === "ArrowUp" && this.text === "") {
      const last = this.store.items.findLast((item) => item.kind === "user" && item.text !== "");
      if (last?.kind === "user") {
        event.preventDefault();
        this.#setText(last.text);
      }
    }
  }

  #onPaste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])].filter((file) => file.type.startsWith("image/"));
    if (files.length === 0) return;
    event.preventDefault();
    this.addFiles(files);
  }

  #onDrag(event: DragEvent, change: number): void {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.#dragDepth = Math.max(0, this.#dragDepth + change);
    this.dragging = this.#dragDepth > 0;
  }

  #onDrop(event: DragEvent): void {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.#dragDepth = 0;
    this.dragging = false;
    this.addFiles(event.dataTransfer.files);
  }

  readonly #page = document;
  readonly #dragEnter = (event: DragEvent): void => this.#onDrag(event, 1);
  readonly #dragLeave = (event: DragEvent): void => this.#onDrag(event, -1);
  readonly #dragOver = (event: DragEvent): void => this.#onDrag(event, 0);
  readonly #drop = (event: DragEvent): void => this.#onDrop(event);

  override connectedCallback(): void {
    super.connectedCallback();
    // The whole page takes a dropped image; else a near miss would navigate away from the conversation.
    this.#page.addEventListener("dragenter", this.#dragEnter);
    this.#page.addEventListener("dragleave", this.#dragLeave);
    this.#page.addEventListener("dragover", this.#dragOver);
    this.#page.addEventListener("drop", this.#drop);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#page.removeEventListener("dragenter", this.#dragEnter);
    this.#page.removeEventListener("dragleave", this.#dragLeave);
    this.#page.removeEventListener("dragover", this.#dragOver);
    this.#page.removeEventListener("drop", this.#drop);
  }

  #queue() {
    const { queue } = this.store;
    if (queue.length === 0) return nothing;
    return html`<section class="queue" aria-label=${t("queue.title", { n: queue.length })}>
      <h3>${t("queue.title", { n: queue.length })}<small>${t(this.store.queueImagesKept ? "queue.note" : "queue.imagesNotKept")}</small></h3>
      <ul>
        ${queue.map((message) => {
          const label = message.text || t("queue.imagesOnly", { n: message.attachments.length });
          return html`<li>
            <span class="queue-text" dir="auto">${label}</span>
            ${message.attachments.length > 0 ? html`<span class="queue-images">${icon("image")}${message.attachments.length}</span>` : nothing}
            <button type="button" class="icon-button small" aria-label=${t("queue.remove", { text: label.slice(0, 60) })} @click=${() => this.store.unqueue(message.id)}>${icon("close")}</button>
          </li>`;
        })}
      </ul>
    </section>`;
  }

  #menu(options: readonly Suggestion[]) {
    if (options.length === 0) return nothing;
    return html`<ul class="suggestions" id="slash-list" role="listbox" aria-label=${t("composer.commands")}>
      ${options.map(
        (option, index) => html`<li id="slash-${index}" role="option" class="suggestion ${index === this.choice ? "chosen" : ""}" aria-selected=${index === this.choice}
          @mousedown=${(event: Event) => event.preventDefault()} @click=${() => this.#take(option)}>
          <code>${option.label}</code>${option.hint ? html`<span class="suggestion-hint">${option.hint}</span>` : nothing}<span class="suggestion-about">${option.description ?? t(option.about)}</span>
        </li>`,
      )}
    </ul>`;
  }

  protected override render() {
    const options = this.#suggestions;
    const open = options.length > 0;
    const connected = this.client.hello !== undefined;
    const { busy } = this.store;
    const empty = this.text.trim() === "" && this.attachments.length === 0;
    return html`
      ${this.#queue()}
      <form class="composer ${this.dragging ? "dragging" : ""}" @submit=${(event: Event) => { event.preventDefault(); this.#send(); }}>
        ${this.#menu(options)}
        ${this.dragging ? html`<div class="drop-hint">${icon("image")}${t("composer.drop")}</div>` : nothing}
        ${this.attachments.length === 0
          ? nothing
          : html`<ul class="thumbs" aria-label=${t("composer.images")}>
              ${this.attachments.map(
                (image) => html`<li><img src=${dataUrl(image)} alt=${image.name} />
                  <button type="button" aria-label=${t("composer.removeImage", { name: image.name })} @click=${() => { this.attachments = this.attachments.filter((other) => other.id !== image.id); this.focus(); }}>${icon("close")}</button></li>`,
              )}
            </ul>`}
        <textarea rows="1" dir=${this.text === "" ? "auto" : textDirection(this.text)} aria-label=${t("composer.label")} placeholder=${t(connected ? "composer.placeholder" : "composer.placeholder.offline")}
          role="combobox" aria-autocomplete="list" aria-expanded=${open} aria-controls="slash-list" aria-activedescendant=${open ? `slash-${this.choice}` : nothing}
          autocomplete="off" enterkeyhint="send"
          @input=${(event: Event) => this.#setText((event.target as HTMLTextAreaElement).value)} @keydown=${(event: KeyboardEvent) => this.#onKey(event)} @paste=${(event: ClipboardEvent) => this.#onPaste(event)}></textarea>
        <div class="composer-bar">
          <input type="file" class="visually-hidden" tabindex="-1" accept="image/*" multiple aria-hidden="true"
            @change=${(event: Event) => { const input = event.target as HTMLInputElement; this.addFiles([...(input.files ?? [])]); input.value = ""; }} />
          <button type="button" class="icon-button" aria-label=${t("composer.attach")} title=${t("composer.attach")} @click=${() => this.querySelector<HTMLInputElement>("input[type=file]")?.click()}>${icon("image")}</button>
          <span class="composer-hint">${t("composer.hint")}</span>
          ${busy ? html`<button type="button" class="button stop" @click=${() => this.store.abort()}>${icon("stop")}${t("composer.stop")}</button>` : nothing}
          <button type="submit" class="button primary send" ?disabled=${empty}>${icon("send")}${t(busy || !connected ? "composer.queue" : "composer.send")}</button>
        </div>
      </form>
    `;
  }
}

customElements.define("oc-composer", OcComposer);

export type ComposerElement = OcComposer;
