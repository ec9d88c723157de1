const BUILT_IN = /^\/(?:new|reset)(?:@\w+)?(?:\s+([\s\S]*))?$/i;

/**
 * The text behind a word that starts a new session: `/new`, `/reset`, and `session.resetTriggers`, as the whole message or
 * followed by a blank, in any case. Undefined for other messages. Source: spec agent-pipeline §3.2.
 */
export function matchResetTrigger(body: string, triggers: readonly string[] = []): string | undefined {
  const text = body.trim();
  const own = BUILT_IN.exec(text);
  if (own) return (own[1] ?? "").trim();
  const lower = text.toLowerCase();
  for (const trigger of triggers) {
    const word = trigger.trim().toLowerCase();
    if (word === "" || !lower.startsWith(word)) continue;
    const rest = text.slice(word.length);
    if (rest === "" || /^\s/.test(rest)) return rest.trim();
  }
  return undefined;
}
