/** A fault of the configuration. `path` is dotted with `[0]` for list items, "" for the root (spec: cli-and-ui §1.3). */
export interface ConfigIssue {
  readonly path: string;
  readonly message: string;
  /** Where the key stands, when it stands in a file. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** `path: message (file:line)`, the root shown as `<root>`; a message that begins with its file already says both. */
export function formatIssue(issue: ConfigIssue): string {
  if (issue.path === "" && issue.file !== undefined && issue.message.startsWith(issue.file)) return issue.message;
  const place = issue.line === undefined ? "" : ` (${issue.file ? `${issue.file}:` : "line "}${issue.line})`;
  return `${issue.path || "<root>"}: ${issue.message}${place}`;
}
