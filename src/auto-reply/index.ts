export { createConversation, SessionBusyError, type AdmitVerdict, type AgentRequest, type ClientMessage, type Conversation, type ConversationDeps } from "./conversation.ts";
export { createCommandRegistry, type CommandRegistry } from "./commands/registry.ts";
export type { CommandDefinition, CommandServices } from "./commands/contract.ts";
export { builtInCommands, createCommandServices } from "./commands/index.ts";
export { isAbortRequest } from "./abort-words.ts";
export { stripPromptScaffolding } from "./user-prompt.ts";
export { channelSection, toOutboundMedia } from "./turn.ts";
export type { ChatEvent } from "./reply/run-events.ts";
export type { ReplyRoute } from "./reply/channel-sink.ts";
