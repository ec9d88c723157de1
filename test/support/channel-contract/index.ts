/** One platform as the contract suite drives it: an emulator behind words that every channel has. */
export interface ContractPlatform extends AsyncDisposable {
  /** Points the channel at the emulator. */
  readonly env: Readonly<Record<string, string>>;
  /** `channels.<id>` of a working account, with `more` over it. */
  section(more?: object): Record<string, unknown>;
  /** Resolves when the channel hears the platform, after at least `times` connections. */
  connected(times?: number): Promise<unknown>;
  /** A direct message of the usual person; the result repeats the very same event. */
  direct(text: string): () => void;
  /** A message in the usual group that names the bot. */
  group(text: string): void;
  /** A picture in a direct message. */
  picture(bytes: Buffer): void;
  /** An event that the channel cannot understand. */
  malformed(): void;
  /** What stands in chats, oldest first. */
  texts(): readonly string[];
  /** Files that arrived in chats. */
  files(): number;
  /** The platform refuses the next answer for a moment. */
  refuseNext(): void;
  /** Cuts what is connected. */
  drop(): void;
  /** A second account: what `accounts` holds then, what it hears, and what stands in chats since. */
  readonly second: { readonly accounts: Readonly<Record<string, object>>; direct(text: string): void; texts(): readonly string[] };
  waitUntil<T>(look: () => T, what: string): Promise<NonNullable<T>>;
}

export interface ContractChannel {
  readonly id: string;
  /** Lets the usual person write. */
  readonly openDirect: Readonly<Record<string, unknown>>;
  /** Lets the usual person speak in the usual group. */
  readonly openGroup: Readonly<Record<string, unknown>>;
  /** As status names the group. */
  readonly groupId: string;
  /** Characters of an answer that is longer than one message. */
  readonly longChars: number;
  start(): Promise<ContractPlatform>;
}

/** Patience of the suite, the same for all platforms. */
export async function waitUntil<T>(look: () => T, what: string, shown: () => unknown): Promise<NonNullable<T>> {
  const until = Date.now() + 20_000;
  for (;;) {
    const found = look();
    if (found) return found;
    if (Date.now() > until) throw new Error(`not seen: ${what}; ${JSON.stringify(shown())?.slice(0, 1500)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
