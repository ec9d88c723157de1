import type { EnvRecord, StatePaths } from "../config/index.ts";
import type { Painter } from "./palette.ts";

export interface Streams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };
  readonly stderr: { write(text: string): unknown };
}

/** What every command works with; one per process. */
export interface Cli {
  readonly env: EnvRecord;
  readonly paths: StatePaths;
  readonly version: string;
  readonly packageRoot: string;
  /** A person looks at standard output. */
  readonly isTty: boolean;
  /** Width of the terminal; 100 when it is none. */
  readonly columns: number;
  readonly paint: Painter;
  /** One line (or several) on standard output. */
  print(text: string): void;
  /** Prints the one JSON document of a `--json` run. */
  json(value: unknown): void;
  /** Diagnostics: standard error. */
  note(text: string): void;
  /** Exit code of the run, unless an error sets another. */
  exitCode: number;
  /** Plugins have been kept from ending this process since the first were loaded. */
  isGuarded?: boolean | undefined;
}
