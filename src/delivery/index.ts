export { openJournal, type Journal } from "./journal.ts";
export { createInbox, dedupeKey, type Authority, type Inbox, type InboxItem, type InboxRow, type RunStart } from "./inbox.ts";
export { createOutbox, type ChannelSend, type DeliveryResult, type FirstAttempt, type Outbox, type OutboxRequest } from "./outbox.ts";
export {
  createPendingHistory,
  createPendingSessionLog,
  createPreviewLog,
  createSystemEvents,
  type HistoryLine,
  type PendingHistory,
  type PreviewLog,
  type SystemEvent,
  type SystemEvents,
} from "./side-tables.ts";
