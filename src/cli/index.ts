export { main, runCli } from "./main.ts";
export type { Streams } from "./cli.ts";
