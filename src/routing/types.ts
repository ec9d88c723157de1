export type ChatType = "direct" | "group" | "channel";
