import type { ConfigSnapshot } from "../../config/index.ts";
import type { Cli } from "../cli.ts";

/** error: it does not work; warn: it should be looked at; note: good to know. */
export type Severity = "error" | "warn" | "note";

export interface Repair {
  /** safe: loses nothing, done with --non-interactive too; careful: with --fix only. */
  readonly kind: "safe" | "careful";
  /** @returns what was done, one sentence each */
  run(): Promise<readonly string[]>;
}

export interface Problem {
  readonly severity: Severity;
  readonly text: string;
  readonly repair?: Repair | undefined;
}

export interface CheckInput {
  readonly cli: Cli;
  readonly snapshot: ConfigSnapshot;
}

export interface Check {
  readonly title: string;
  /** Needs a valid configuration; else it is passed over. */
  readonly needsConfig?: boolean | undefined;
  find(input: CheckInput): Promise<readonly Problem[]>;
}
