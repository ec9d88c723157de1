export interface QuotedMessage {
  readonly text: string;
  readonly isOwn: boolean;
}

/** What was said under which index, so that a quote can be read. */
export interface QuoteIndex {
  add(ref: string | undefined, message: QuotedMessage): void;
  find(ref: string): QuotedMessage | undefined;
}

const MAX_ENTRIES = 5000;
const MAX_CHARS = 2000;

export function createQuoteIndex(): QuoteIndex {
  const known = new Map<string, QuotedMessage>();
  return {
    add(ref, message) {
      if (ref === undefined || ref === "") return;
      known.set(ref, { ...message, text: message.text.slice(0, MAX_CHARS) });
      const oldest = known.keys().next().value;
      if (known.size > MAX_ENTRIES && oldest !== undefined) known.delete(oldest);
    },
    find: (ref) => known.get(ref),
  };
}
