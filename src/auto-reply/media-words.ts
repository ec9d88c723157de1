import type { UnderstoodMedia } from "../agents/index.ts";
import type { InboundMessage } from "../channels/contract/index.ts";
import type { ReceivedMedia } from "./inbound-context.ts";

/** A message with what its files and links say. */
export interface MessageWords {
  readonly message: InboundMessage;
  /** Files that are still to be shown as files. */
  readonly media: readonly ReceivedMedia[];
  readonly understood?: UnderstoodMedia | undefined;
  /** A block for each link that was read. */
  readonly links: readonly string[];
}

const TITLES = { audio: ["Audio", "Transcript"], image: ["Image", "Description"], video: ["Video", "Description"] } as const;

/**
 * The message with what its files say: speech without a text of its own is the text. Source: spec
 * tools-and-automation-part2 §10.
 */
export function withMediaWords(message: InboundMessage, { outcomes, fileBlocks, transcript }: UnderstoodMedia): InboundMessage {
  if (outcomes.length === 0 && fileBlocks.length === 0) return message;
  const said = message.agentText ?? message.text;
  const totals = Map.groupBy(outcomes, ({ capability }) => capability);
  const numbers = new Map<string, number>();
  const sections = outcomes.map(({ capability, text }) => {
    const [title, label] = TITLES[capability];
    const number = (numbers.get(capability) ?? 0) + 1;
    numbers.set(capability, number);
    const total = totals.get(capability)?.length ?? 1;
    return { head: `[${title}${total > 1 ? ` ${number}/${total}` : ""}]`, tail: `${label}:\n${text}` };
  });
  const userText = said.trim() === "" ? [] : [`User text:\n${said}`];
  const [only] = sections;
  const body = sections.length === 1 && only ? [only.head, ...userText, only.tail].join("\n") : [...(sections.length === 0 ? [said] : userText), ...sections.map(({ head, tail }) => `${head}\n${tail}`)].join("\n\n");
  return { ...message, text: message.text.trim() === "" && transcript !== undefined ? transcript : message.text, agentText: [body, ...fileBlocks].filter((part) => part.trim() !== "").join("\n\n") };
}

/** The message, and below it what its links say. */
export function withLinkWords(message: InboundMessage, links: readonly string[]): InboundMessage {
  return links.length === 0 ? message : { ...message, agentText: [message.agentText ?? message.text, ...links].join("\n\n") };
}
