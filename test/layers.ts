/**
 * The rooms of `src`, low to high: a room imports only from rooms before it. `channels/contract` is a room of its own, far
 * below the channels; the shared channel formats are open to all channels.
 */
export const tiers: readonly (readonly string[])[] = [
  ["infra"], ["config"], ["security"], ["media"], ["pairing"], ["routing"], ["sessions"], ["channels/contract"], ["channels/format"], ["delivery"],
  ["memory", "tts", "browser", "nodes", "canvas"], ["agents"], ["auto-reply"], ["cron", "heartbeat", "hooks"], ["plugins"],
  ["channels/manager", "channels/telegram", "channels/lark"], ["plugin-sdk"], ["gateway"], ["cli"],
];

/** Rooms that a room may not import. */
export function forbiddenRooms(room: string): string[] {
  const level = tiers.findIndex((rooms) => rooms.includes(room));
  return tiers.slice(level).flat().filter((other) => other !== room);
}
