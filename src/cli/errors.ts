export interface CliErrorOptions extends ErrorOptions {
  /** What the person does next. */
  readonly fix?: string | undefined;
  /** Machine-readable kind, in the JSON form. */
  readonly code?: string | undefined;
  readonly details?: unknown;
  readonly exitCode?: number | undefined;
}

/** A command failed in a way a person can act on; printed without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly fix: string | undefined;
  readonly code: string | undefined;
  readonly details: unknown;
  readonly exitCode: number;
  constructor(message: string, options: CliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.fix = options.fix;
    this.code = options.code;
    this.details = options.details;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** What was thrown, as the fields of the JSON error document. */
export function toErrorFields(err: unknown): Record<string, unknown> {
  const fields = typeof err === "object" && err !== null ? (err as Readonly<Record<string, unknown>>) : {};
  const message = err instanceof Error ? err.message : String(err);
  return {
    message,
    ...(typeof fields["code"] === "string" ? { code: fields["code"] } : {}),
    ...(typeof fields["fix"] === "string" ? { fix: fields["fix"] } : {}),
    ...(fields["details"] === undefined ? {} : { details: fields["details"] }),
  };
}
