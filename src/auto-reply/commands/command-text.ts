/**
 * A group message without what stands around a command there: mentions of the bot at its edges, a bracketed prefix, a
 * `Name: ` before the slash. Source: spec agent-pipeline-output §8.1.
 */
export function groupCommandText(text: string): string {
  const bare = text.trim().replace(/^(?:\[[^\]\n]{1,80}\]\s*)?(?:[^\s:/][^:/\n]{0,40}:\s+)?(?=[/@])/, "");
  return withoutMentions(bare);
}

/** Mentions at the edges of a text removed. A name in another script ends only where a blank or a comma says so. */
export function withoutMentions(text: string): string {
  return text.trim().replace(/^(?:@[A-Za-z0-9_.-]+(?![\p{L}\p{N}])[\s,:]*|@[\p{L}\p{M}\p{N}_.-]{1,64}[\s,:，：、]+)+/u, "").replace(/(?:\s+@[A-Za-z0-9_.-]+)+$/, "");
}

/** `! ls`, `!poll` and `!stop` as the command that they stand for. */
export function expandBang(text: string): string {
  const match = /^!(?:\s+(\S[\s\S]*)|(poll|stop))$/.exec(text.trim());
  return match ? `/bash ${match[1] ?? match[2]}` : text;
}
