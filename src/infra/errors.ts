/** The text of anything that was thrown, for logs and for messages to people. */
export function errorText(err: unknown): string {
  if (err instanceof Error) return err.message || err.name;
  return typeof err === "string" ? err : (JSON.stringify(err) ?? String(err));
}
