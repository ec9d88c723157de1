import type { AgentEvent, ChatEvent, EventFrame } from "../../gateway/protocol/types.ts";
import { ConnectionLost } from "../gateway/client.ts";
import type { GatewayClient } from "../gateway/client.ts";
import { isRecord, readJson, writeJson } from "../gateway/storage.ts";
import { errorText } from "../ui/format.ts";
import { Observable } from "../ui/observable.ts";
import { dataUrl } from "./attachments.ts";
import type { Attachment } from "./attachments.ts";
import { isStopRequest } from "./commands.ts";
import { mergeHistory, settleTools, toItems } from "./history.ts";
import type { Item, UserItem } from "./items.ts";
import { LiveRun, toolAfter } from "./live-run.ts";
import { loadQueue, saveQueue } from "./queue-store.ts";
import type { QueuedMessage } from "./queue-store.ts";

const PAGE = 200;
const MAX_HISTORY = 1000;
const REFRESH_DELAY_MS = 500;
/** A run that says nothing for this long after a reconnect or a reload is taken as over. */
const SILENT_RUN_MS = 45_000;
const END_GRACE_MS = 3_000;
const NOTICE_MS = 8_000;
const RUNS_KEY = "openclaw.control.runs.v1";

interface HistoryAnswer {
  readonly sessionId?: string;
  readonly messages?: readonly unknown[];
  /** The run that goes on in this session, with what it wrote so far. */
  readonly activeRun?: { readonly runId?: string; readonly text?: string };
}

export type Notice = { readonly kind: "compacting" } | { readonly kind: "fallback"; readonly from: string; readonly to: string };

/** One session as this page shows it: transcript, what was said since, runs that go on, messages that wait. */
export class ChatStore extends Observable {
  sessionKey = "";
  loading = false;
  loaded = false;
  historyError = "";
  queue: readonly QueuedMessage[] = [];
  queueImagesKept = true;
  notice: Notice | undefined;
  items: readonly Item[] = [];
  /** Counts what the person did that should bring the end into view. */
  jumps = 0;
  /** Counts finished answers, for the screen reader's announcement. */
  answers = 0;
  readonly #client: GatewayClient;
  #stored: readonly Item[] = [];
  #local: readonly Item[] = [];
  #sessionId: string | undefined;
  #runs = new Map<string, LiveRun>();
  #ended = new Set<string>();
  #aliases = new Map<string, string>();
  #limit = PAGE;
  #complete = true;
  #refreshTimer: number | undefined;
  #noticeTimer: number | undefined;
  #frame: number | undefined;
  #held = false;
  #loadNumber = 0;

  constructor(client: GatewayClient) {
    super();
    this.#client = client;
    client.onEvent((event) => this.#take(event));
    client.onGap(() => this.#refreshSoon());
    let connected = false;
    client.observe(() => {
      const now = client.hello !== undefined;
      if (now && !connected && this.sessionKey !== "") this.#reconnected();
      connected = now;
    });
  }

  get busy(): boolean {
    return this.#runs.size > 0;
  }

  get runs(): readonly LiveRun[] {
    return [...this.#runs.values()];
  }

  get hasEarlier(): boolean {
    return !this.#complete && this.#limit < MAX_HISTORY;
  }

  /** Shows another session. */
  open(sessionKey: string): void {
    if (sessionKey === this.sessionKey) return;
    this.sessionKey = sessionKey;
    this.#stored = [];
    this.#local = [];
    this.items = [];
    this.#runs.clear();
    this.#aliases.clear();
    this.#sessionId = undefined;
    this.#limit = PAGE;
    this.#complete = true;
    this.#held = false;
    this.loaded = false;
    this.historyError = "";
    this.notice = undefined;
    this.queue = loadQueue(sessionKey);
    this.#restoreRun();
    this.jumps++;
    this.notify();
    if (this.#client.hello) void this.refresh();
  }

  async refresh(): Promise<void> {
    clearTimeout(this.#refreshTimer);
    const { sessionKey } = this;
    const number = ++this.#loadNumber;
    const stale = (): boolean => number !== this.#loadNumber || sessionKey !== this.sessionKey;
    this.loading = true;
    this.notify();
    try {
      const answer = await this.#client.request<HistoryAnswer>("chat.history", { sessionKey, limit: this.#limit });
      if (stale()) return;
      this.#applyHistory(answer);
      this.historyError = "";
      this.loaded = true;
    } catch (err) {
      if (stale()) return;
      if (!(err instanceof ConnectionLost)) this.historyError = errorText(err);
    }
    this.loading = false;
    this.notify();
    this.#flush();
  }

  async loadEarlier(): Promise<void> {
    this.#limit = Math.min(MAX_HISTORY, this.#limit + PAGE);
    await this.refresh();
  }

  /** Sends now, or queues when an answer is being written or the gateway is away. */
  send(text: string, attachments: readonly Attachment[]): void {
    if (attachments.length === 0 && isStopRequest(text) && this.busy) return void this.abort();
    const message: QueuedMessage = { id: crypto.randomUUID?.() ?? `m-${Date.now()}-${Math.random()}`, text, attachments, at: Date.now() };
    this.#held = false;
    this.jumps++;
    if (this.busy || !this.#client.hello || this.queue.length > 0) {
      this.#setQueue([...this.queue, message]);
      this.#flush();
    } else void this.#deliver(message);
  }

  unqueue(id: string): void {
    this.#setQueue(this.queue.filter((message) => message.id !== id));
  }

  retry(item: Item): void {
    const asked = item.kind === "user" ? item : item.kind === "error" ? item.retry : undefined;
    if (!asked) return;
    const gone = new Set([item.id, ...(asked.state === "failed" ? [asked.id] : [])]);
    const attachments = asked.images.flatMap((image, index) => toAttachment(image, index));
    this.#local = this.#local.filter((own) => !gone.has(own.id) && !(own.kind === "error" && own.retry?.id === asked.id));
    this.#rebuild();
    this.send(asked.text, attachments);
  }

  dismiss(id: string): void {
    this.#local = this.#local.filter((item) => item.id !== id);
    this.#stored = this.#stored.filter((item) => item.id !== id);
    this.#rebuild();
    this.notify();
  }

  async abort(): Promise<void> {
    const { sessionKey } = this;
    try {
      const all = await this.#client.request<{ aborted?: boolean }>("chat.abort", { sessionKey });
      if (all.aborted) return;
      for (const run of this.runs) {
        const one = await this.#client.request<{ aborted?: boolean }>("chat.abort", { sessionKey, runId: run.runId });
        if (one.aborted) return;
      }
      // Begun elsewhere (a channel, a timer): the session's own stop word reaches it. An answer means nothing runs.
      await this.#client.request("chat.send", { sessionKey, message: "/stop", idempotencyKey: crypto.randomUUID() });
      for (const run of this.runs) if (Date.now() - run.lastEventAt > END_GRACE_MS) this.#end(run, undefined, true);
      this.#refreshSoon();
    } catch (err) {
      this.#fail(errorText(err), undefined);
    }
  }

  /** Begins afresh under the same key; the gateway archives what was. @throws RpcError */
  async startNewSession(): Promise<void> {
    await this.#client.request("sessions.reset", { key: this.sessionKey, reason: "new" });
    this.#stored = [];
    this.#local = [];
    this.#runs.clear();
    this.#forgetRun();
    this.#sessionId = undefined;
    this.#rebuild();
    await this.refresh();
  }

  // ---- sending ----

  async #deliver(message: QueuedMessage): Promise<void> {
    const { sessionKey } = this;
    const images = message.attachments.map((attachment) => ({ src: dataUrl(attachment), name: attachment.name, bytes: attachment.bytes }));
    const item: UserItem = { kind: "user", id: `local:${message.id}`, text: message.text, images, at: Date.now(), state: "sending", runId: message.id };
    const run = new LiveRun(message.id, { own: true });
    this.#runs.set(run.runId, run);
    this.#rememberRun(run);
    this.#addLocal(item);
    this.jumps++;
    const attachments = message.attachments.map(({ mimeType, name, content }) => ({ type: "image", mimeType, fileName: name, content }));
    try {
      const answer = await this.#client.request<{ status?: string; summary?: string }>("chat.send", {
        sessionKey,
        message: message.text,
        deliver: false,
        idempotencyKey: message.id,
        ...(attachments.length > 0 ? { attachments } : {}),
      });
      if (sessionKey !== this.sessionKey) return;
      this.#replaceLocal(item.id, { ...item, state: "sent" });
      if (answer.status === "error") {
        this.#end(run, undefined, false);
        this.#fail(answer.summary ?? "", item);
      } else if (answer.status !== "started" && answer.status !== "in_flight") {
        this.#end(run, undefined, false);
        this.#refreshSoon();
      }
    } catch (err) {
      if (sessionKey !== this.sessionKey) return;
      this.#runs.delete(run.runId);
      this.#forgetRun();
      if (err instanceof ConnectionLost) {
        // The same id: if it did arrive, sending it again changes nothing.
        this.#local = this.#local.filter((own) => own.id !== item.id);
        this.#rebuild();
        this.#setQueue([message, ...this.queue]);
        return;
      }
      this.#replaceLocal(item.id, { ...item, state: "failed" });
      this.#fail(errorText(err), { ...item, state: "failed" });
    }
  }

  #flush(): void {
    const [next, ...rest] = this.queue;
    if (!next || this.busy || this.#held || !this.#client.hello || !(this.loaded || this.historyError !== "")) return;
    this.#setQueue(rest);
    void this.#deliver(next);
  }

  #setQueue(queue: readonly QueuedMessage[]): void {
    this.queue = queue;
    this.queueImagesKept = saveQueue(this.sessionKey, queue);
    this.notify();
  }

  // ---- events ----

  #isHere(key: string | undefined): boolean {
    if (key === undefined) return false;
    const defaults = this.#client.hello?.snapshot.sessionDefaults;
    const full = (name: string): string => (name === defaults?.mainKey ? defaults.mainSessionKey : name).toLowerCase();
    return full(key) === full(this.sessionKey);
  }

  #take(event: EventFrame): void {
    if (event.event === "chat") this.#takeChat(event.payload as ChatEvent);
    else if (event.event === "agent") this.#takeAgent(event.payload as AgentEvent);
  }

  #run(runId: string): LiveRun {
    const known = this.#runs.get(runId);
    if (known) return known;
    const run = new LiveRun(runId, { own: false });
    this.#runs.set(runId, run);
    return run;
  }

  #takeAgent(event: AgentEvent): void {
    if (!this.#isHere(event.sessionKey) && !this.#runs.has(event.runId)) return;
    const phase = event.data["phase"];
    if (event.stream === "lifecycle" && phase === "start") this.#ended.delete(event.runId);
    if (this.#ended.has(event.runId)) return void this.#lateTool(event);
    if (event.stream === "error") return;
    const run = this.#run(event.runId);
    if (event.stream === "compaction") this.#setNotice(phase === "start" ? { kind: "compacting" } : undefined, false);
    if (event.stream === "lifecycle" && phase === "fallback") {
      const name = (side: string): string => [event.data[`${side}Provider`], event.data[`${side}Model`]].filter(Boolean).join("/");
      this.#setNotice({ kind: "fallback", from: name("selected"), to: name("active") }, true);
    }
    if (event.stream === "lifecycle" && phase === "end") {
      setTimeout(() => {
        if (this.#runs.get(event.runId) !== run) return;
        this.#end(run, undefined, event.data["aborted"] === true);
        this.#refreshSoon();
      }, END_GRACE_MS);
    }
    if (event.stream === "tool" && this.#storedTool(event)) return;
    run.takeAgent(event);
    this.#draw();
  }

  /** A card that already stands in the thread because the history was read in the middle of the run. */
  #storedTool({ data, ts }: AgentEvent): boolean {
    const index = this.#stored.findIndex((item) => item.kind === "tool" && item.id === data["toolCallId"]);
    const tool = this.#stored[index];
    if (tool?.kind !== "tool") return false;
    this.#stored = this.#stored.with(index, toolAfter(tool, data, ts));
    this.#rebuild();
    this.#draw();
    return true;
  }

  #lateTool(event: AgentEvent): void {
    if (event.stream === "tool") this.#storedTool(event);
  }

  #takeChat(event: ChatEvent): void {
    if (!this.#isHere(event.sessionKey) && !this.#runs.has(event.runId)) return;
    const text = event.message?.content.map((part) => part.text).join("\n");
    if (event.state === "delta") {
      if (this.#ended.has(event.runId)) return;
      this.#run(event.runId).takeDelta(text ?? "");
      return this.#draw();
    }
    const run = this.#runs.get(event.runId);
    if (!run && this.#ended.has(event.runId)) return;
    const finished = run ?? new LiveRun(event.runId, { own: false });
    const asked = this.#local.findLast((item): item is UserItem => item.kind === "user" && item.runId === event.runId) ?? this.#lastAsked();
    this.#end(finished, text, event.state === "aborted");
    if (event.state === "error") this.#fail(event.errorMessage ?? "", asked);
    else this.#flush();
    this.#refreshSoon();
  }

  #lastAsked(): UserItem | undefined {
    const item = this.items.findLast((one) => one.kind === "user");
    return item?.kind === "user" ? item : undefined;
  }

  #end(run: LiveRun, text: string | undefined, stopped: boolean): void {
    this.#runs.delete(run.runId);
    this.#ended.add(run.runId);
    if (this.#ended.size > 200) this.#ended.delete(this.#ended.values().next().value ?? "");
    this.#forgetRun();
    const finished = run.finish(text, stopped);
    this.#local = [...this.#local, ...finished];
    if (finished.length > 0) this.answers++;
    if (this.notice?.kind === "compacting") this.notice = undefined;
    this.#rebuild();
    this.notify();
  }

  #fail(message: string, retry: UserItem | undefined): void {
    this.#held = true;
    this.#addLocal({ kind: "error", id: `error:${crypto.randomUUID?.() ?? Date.now()}`, message, at: Date.now(), retry });
    this.jumps++;
  }

  #setNotice(notice: Notice | undefined, fades: boolean): void {
    clearTimeout(this.#noticeTimer);
    this.notice = notice;
    if (fades) this.#noticeTimer = setTimeout(() => this.#setNotice(undefined, false), NOTICE_MS);
    this.notify();
  }

  // ---- thread ----

  #addLocal(item: Item): void {
    this.#local = [...this.#local, item];
    this.#rebuild();
    this.notify();
  }

  #replaceLocal(id: string, item: Item): void {
    this.#local = this.#local.map((own) => (own.id === id ? item : own));
    this.#rebuild();
    this.notify();
  }

  #applyHistory({ sessionId, messages = [], activeRun }: HistoryAnswer): void {
    if (activeRun?.runId && !this.#ended.has(activeRun.runId)) this.#run(activeRun.runId).takeDelta(activeRun.text ?? "");
    if (sessionId !== undefined && this.#sessionId !== undefined && sessionId !== this.#sessionId) {
      this.#stored = [];
      this.#local = this.#local.filter((item) => item.kind === "user" && item.state !== "sent");
      this.#aliases.clear();
    }
    this.#sessionId = sessionId ?? this.#sessionId;
    this.#complete = messages.length < this.#limit;
    const running = this.busy ? new Set(messages.slice(-6).flatMap(toolIds)) : new Set<string>();
    const fresh = settleTools(toItems(messages), running);
    // What stood above the part that was read now stays.
    const oldest = fresh[0];
    const above = oldest && !this.#complete ? this.#stored.filter((item) => item.at < oldest.at) : [];
    this.#stored = [...above, ...fresh];
    // Of a run that goes on, the history may hold the first steps already.
    for (const run of this.#runs.values()) {
      run.segments = run.segments.filter((item) => mergeHistory(this.#stored, [item]).remaining.length > 0);
    }
    const merged = mergeHistory(this.#stored, this.#local);
    this.#local = merged.remaining;
    for (const [stored, shown] of merged.aliases) this.#aliases.set(stored, shown);
    this.#stored = keepIdentity(this.#stored, merged.items, this.#aliases, this.items);
    this.#rebuild();
  }

  #rebuild(): void {
    this.items = mergeHistory(this.#stored, this.#local).items;
  }

  /** Streams are drawn once a frame. */
  #draw(): void {
    if (this.#frame !== undefined) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = undefined;
      this.notify();
    });
  }

  #refreshSoon(): void {
    clearTimeout(this.#refreshTimer);
    this.#refreshTimer = setTimeout(() => void this.refresh(), REFRESH_DELAY_MS);
  }

  // ---- coming back ----

  #reconnected(): void {
    void this.refresh();
    for (const run of this.runs) void this.#ask(run);
  }

  /** Whether a run from before is still on: the gateway tells if it ended; a long silence tells too. */
  async #ask(run: LiveRun): Promise<void> {
    const askedAt = Date.now();
    setTimeout(() => {
      if (this.#runs.get(run.runId) === run && run.lastEventAt <= askedAt) this.#giveUp(run);
    }, SILENT_RUN_MS);
    if (!this.#client.has("agent.wait")) return;
    try {
      const answer = await this.#client.request<{ status?: string }>("agent.wait", { runId: run.runId, timeoutMs: 0 });
      if (answer.status !== "timeout" && this.#runs.get(run.runId) === run) this.#giveUp(run);
    } catch {
      // The silence decides.
    }
  }

  #giveUp(run: LiveRun): void {
    run.segments = [];
    this.#end(run, undefined, false);
    void this.refresh();
  }

  #rememberRun(run: LiveRun): void {
    writeJson(RUNS_KEY, { sessionKey: this.sessionKey, runId: run.runId, startedAt: run.startedAt }, sessionStorage);
  }

  #forgetRun(): void {
    if (![...this.#runs.values()].some((run) => run.own)) writeJson(RUNS_KEY, null, sessionStorage);
  }

  #restoreRun(): void {
    const raw = readJson(RUNS_KEY, sessionStorage);
    if (!isRecord(raw) || raw["sessionKey"] !== this.sessionKey || typeof raw["runId"] !== "string") return;
    const run = new LiveRun(raw["runId"], { own: true, startedAt: Number(raw["startedAt"]) || Date.now() });
    this.#runs.set(run.runId, run);
    if (this.#client.hello) void this.#ask(run);
  }
}

/** Items that did not change stay the same objects under the same ids, so that their elements are left alone. */
function keepIdentity(stored: readonly Item[], merged: readonly Item[], aliases: ReadonlyMap<string, string>, shown: readonly Item[]): Item[] {
  const enriched = new Map(merged.map((item) => [item.id, item]));
  const before = new Map(shown.map((item) => [item.id, item]));
  return stored.map((item) => {
    const id = aliases.get(item.id) ?? item.id;
    const previous = before.get(id);
    const next = { ...(enriched.get(id) ?? item), id };
    if (previous?.kind === "user" && next.kind === "user" && previous.images.some((image) => image.src)) {
      return previous.text === next.text && previous.state === "sent" ? previous : { ...next, images: previous.images };
    }
    return previous && JSON.stringify(previous) === JSON.stringify(next) ? previous : next;
  });
}

function toolIds(message: unknown): string[] {
  if (!isRecord(message) || !Array.isArray(message["content"])) return [];
  return message["content"].flatMap((part) => (isRecord(part) && part["type"] === "toolCall" && typeof part["id"] === "string" ? [part["id"]] : []));
}

function toAttachment(image: UserItem["images"][number], index: number): Attachment[] {
  const match = /^data:([^;]+);base64,(.*)$/s.exec(image.src ?? "");
  if (!match) return [];
  return [{ id: `again-${index}`, name: image.name ?? "image", mimeType: match[1] ?? "image/png", content: match[2] ?? "", bytes: image.bytes ?? 0 }];
}
