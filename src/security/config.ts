import type { OpenClawConfig } from "../config/index.ts";

/** The part of the config that this room reads, always through a getter, so that a reload applies to the next request. */
export type SecurityConfig = Pick<OpenClawConfig, "gateway">;
