/** Types for authors of plugins: plain interfaces, so that their declarations need no other package. */
export type { DiagnosticEvent, DiagnosticEventInput, HostRoute, ThreadBinding } from "./host.ts";
