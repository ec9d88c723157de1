export type { DeliveryContext, ResolvedSkill, SessionEntry, SessionIndex, SessionOrigin, SessionPatch, SkillsSnapshot } from "./types.ts";
export { createSessionService, type SessionService } from "./service.ts";
export { createSessionStore, type PendingSessionLog, type SessionStore } from "./session-store.ts";
export { appendTranscriptMessage, registerLiveTranscript, type LiveTranscript } from "./append.ts";
export { emitSessionTranscriptUpdate, onSessionTranscriptUpdate, queueByPath, SESSION_STORE_CACHE } from "./process-registry.ts";
export { archiveStamp, resetEntry, resolveResetPolicy, sessionFreshness, type ResetType } from "./reset.ts";
export { isSessionId, resolveTranscriptPath, transcriptFileName } from "./paths.ts";
export { resolveSendPolicy } from "./send-policy.ts";
export {
  appendTranscriptLines,
  createHeader,
  fileSize,
  isTranscriptHeader,
  isTranscriptMessage,
  loadTranscript,
  relinkEntries,
  TRANSCRIPT_VERSION,
  newEntryId,
  parseTranscriptLine,
  readLinesBackwards,
  readRecentMessages,
  readTranscriptHeader,
  type TranscriptEntry,
  type TranscriptHeader,
  type TranscriptMessage,
  type TranscriptMessageBody,
} from "./transcript.ts";
