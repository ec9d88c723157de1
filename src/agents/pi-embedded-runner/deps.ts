import type { OpenClawConfig } from "../../config/index.ts";
import type { Clock } from "../../infra/clock.ts";
import type { Logger } from "../../infra/log.ts";
import type { SessionService } from "../../sessions/index.ts";
import type { AgentHooks } from "../hooks.ts";
import type { ModelService } from "../models/types.ts";
import type { PiModules } from "../pi.ts";
import type { SkillShelf, SkillsWatcher } from "../skills/index.ts";
import type { Lanes } from "./lanes.ts";
import type { MachineFacts } from "./machine.ts";
import type { ImageStore } from "./run/images.ts";
import type { TranscriptCache } from "./session-manager-cache.ts";
import type { ToolSchemas } from "./tool-schema.ts";

/** The world of the runner; one per gateway. */
export interface RunnerDeps {
  readonly config: () => OpenClawConfig;
  readonly models: ModelService;
  readonly pi: () => Promise<PiModules>;
  readonly lanes: Lanes;
  readonly transcripts: TranscriptCache;
  readonly clock: Clock;
  readonly log: Logger;
  readonly stateDir: string;
  readonly docsDir: string | undefined;
  readonly bundledSkillsDir: string;
  /** ms that a run may go on after its stop before it is given up; default 20 000. */
  readonly stuckMs?: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ids of the channels that the message tool can reach. */
  readonly messageChannels: () => readonly string[];
  readonly messageToolHints: () => readonly string[];
  /** Folders of skills that plugins bring. */
  readonly pluginSkillDirs: () => readonly string[];
  readonly hooks: AgentHooks;
  readonly images: ImageStore;
  readonly skillsWatcher: SkillsWatcher;
  readonly skillShelf: SkillShelf;
  readonly toolSchemas: ToolSchemas;
  readonly machine: () => MachineFacts;
  /** What sessions.json says of a conversation. */
  readonly sessions: Pick<SessionService, "get" | "update">;
  /** A conversation was compacted; `text` is for its next turn. */
  readonly onCompacted: (sessionKey: string, text: string) => void;
}
