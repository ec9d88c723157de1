export { createCronService, type CronListQuery, type CronService } from "./service.ts";
export { createCronStore } from "./store.ts";
export { createCronRunLog } from "./run-log.ts";
export { executeCronJob, type CronTurn } from "./execute.ts";
export { createCronSweep } from "./sweep.ts";
export { CronError, type CronAuthority, type CronDelivery, type CronEvent, type CronJob, type CronJobDraft } from "./types.ts";
