/** The text in a Markdown code block that nothing inside can close. */
export function codeBlock(text: string, language = ""): string {
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map((run) => run[0].length + 1)));
  return `${fence}${language}\n${text}\n${fence}`;
}
