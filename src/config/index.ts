export type * from "./types.generated.ts";
