import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly bytes: Buffer;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly raw?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StoredMessage {
  readonly id: string;
  readonly chatId: string;
  readonly type: string;
  content: string;
  readonly sender: { readonly id: string; readonly sender_type: "app" | "user" };
  readonly parentId?: string | undefined;
  readonly inThread?: boolean | undefined;
  readonly upperId?: string | undefined;
  isRecalled?: boolean | undefined;
}

export interface StoredCard {
  text: string;
  isStreaming: boolean;
  sequence: number;
  updates: number;
  summary: string;
  readonly notes: string[];
}

/** What the platform knows; each emulator has its own. */
export interface Platform {
  readonly apps: ReadonlyMap<string, string>;
  /** Token → app. */
  readonly tokens: Map<string, string>;
  readonly tickets: Map<string, string>;
  readonly users: Map<string, string>;
  readonly chats: Map<string, { readonly name: string; readonly mode: string }>;
  readonly messages: Map<string, StoredMessage>;
  readonly uuids: Map<string, string>;
  readonly reactions: Map<string, { readonly messageId: string; readonly name: string; readonly app: string }>;
  readonly cards: Map<string, StoredCard>;
  readonly images: Map<string, Buffer>;
  readonly files: Map<string, { readonly type: string; readonly fileName: string; readonly bytes: Buffer }>;
  readonly resources: Map<string, { readonly bytes: Buffer; readonly mimeType: string }>;
  readonly docs: Map<string, { readonly title: string; readonly blocks: string[] }>;
  readonly members: Map<string, { readonly member_type: string; readonly member_id: string; readonly perm: string }[]>;
  readonly records: Map<string, Record<string, unknown>>;
  readonly tokenSeconds: number;
  readonly url: () => string;
}


export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll("-", "")}`;
export const ok = (data: unknown): Answer => ({ status: 200, body: { code: 0, msg: "success", data } });
export const refuse = (code: number, msg: string, status = 400): Answer => ({ status, body: { code, msg, error: { log_id: randomUUID() } } });
export const botOpenId = (app: string): string => `ou_bot_${app}`;
