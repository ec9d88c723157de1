/** Prompt of a heartbeat that was woken by a finished command. */
export const EXEC_EVENT_PROMPT =
  "A command that you started earlier has ended; its result is in the system lines above. Tell the person what came of it, in a sentence or two.";

/** The same when nobody can be told. */
export const EXEC_EVENT_SILENT_PROMPT =
  "A command that you started earlier has ended; its result is in the system lines above. Take note of it and act on it if that is needed. Nobody reads this answer: end with HEARTBEAT_OK.";

/** Source: spec tools-and-automation part 2 §7 (the opening sentence is the reference's). */
export function cronEventPrompt(texts: readonly string[], canDeliver: boolean): string {
  const content = texts.join("\n");
  const how = canDeliver ? "Pass this reminder on to the person in a helpful and friendly way." : "Act on it if that is needed. Nobody reads this answer: end with HEARTBEAT_OK.";
  return `A scheduled reminder has been triggered. The reminder content is:\n\n${content}\n\n${how}`;
}
