export type { DeliveryContext, ResolvedSkill, SessionEntry, SessionIndex, SessionOrigin, SessionPatch, SkillsSnapshot } from "./types.ts";
export { createSessionService, type SessionService, type SessionWatch } from "./service.ts";
export { type PendingSessionLog, type SessionStore } from "./session-store.ts";
export { registerLiveTranscript, type LiveTranscript } from "./append.ts";
export { emitSessionTranscriptUpdate, queueByPath } from "./process-registry.ts";
export { archiveStamp, resolveResetPolicy, sessionFreshness, type ResetType } from "./reset.ts";
export { resolveSendPolicy } from "./send-policy.ts";
export {
  appendTranscriptLines,
  createHeader,
  isTranscriptHeader,
  isTranscriptMessage,
  TRANSCRIPT_VERSION,
  parseTranscriptLine,
  readTranscriptHeader,
  type TranscriptEntry,
  type TranscriptHeader,
  type TranscriptMessage,
  type TranscriptMessageBody } from "./transcript.ts";
export { loadTranscript, readLinesBackwards, readRecentMessages, rebuildTranscript, relinkEntries } from "./transcript-read.ts";
