export { runDoctor } from "./run.ts";
