import type { FileAccess } from "../tools/file-access.ts";
import type { SandboxSettings } from "./settings.ts";

/** A shell command line as somebody wants it run inside. */
export interface SandboxCommandRequest {
  readonly command: string;
  /** As the caller gave it: relative to the workspace, absolute inside, or a path of the host that is mounted. */
  readonly workdir?: string | undefined;
  /** For this command only. Values never reach the environment of a process of the host. */
  readonly env: Readonly<Record<string, string>>;
  readonly pty: boolean;
}

/** The process of the host that runs a command inside. */
export interface SandboxCommand {
  readonly argv: readonly [string, ...string[]];
  /** Environment and directory of that process, not of the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Where the command works, as seen inside. */
  readonly workdir: string;
  /** Ends what the command has started inside. Needed where a signal to the host process does not reach it; never throws. */
  readonly stop?: ((signal: "SIGTERM" | "SIGKILL") => void) | undefined;
}

/** A sandbox that is up. */
export interface SandboxRuntime {
  readonly backend: "docker" | "bwrap";
  /** Name of the container; what a person looks for. */
  readonly name: string;
  /** @throws Error naming a working directory that is not there */
  wrap(request: SandboxCommandRequest): Promise<SandboxCommand>;
}

/** The sandbox of one session, up or not yet. */
export interface SandboxSession {
  readonly settings: SandboxSettings;
  /** Whose sandbox it is: the session, `agent:<id>` or `shared`. */
  readonly scopeKey: string;
  /** Brings it up, once. @throws SandboxError; nothing is ever run on the host instead */
  ready(): Promise<SandboxRuntime>;
  /** Files as seen inside; nothing else is in reach, whatever links say. */
  readonly files: FileAccess;
}

/** The sandbox cannot be had: the run fails with this. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: "engine" | "image" | "settings" | "container";
  constructor(code: SandboxError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
