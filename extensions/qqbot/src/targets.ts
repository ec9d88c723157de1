export type Scene = "c2c" | "group" | "channel" | "dm";

export interface QQTarget {
  readonly scene: Scene;
  readonly id: string;
}

export const TARGET_HINT = "qqbot:c2c:<openid>, qqbot:group:<group_openid>, qqbot:channel:<channel_id> or qqbot:dm:<guild_id>";

/** A bare id is a person's openid. Source: spec channels-cn §1.6. */
export function parseTarget(raw: string): QQTarget | undefined {
  const bare = raw.trim().replace(/^qqbot:/i, "").trim();
  const [, scene = "c2c", id = ""] = /^(?:(c2c|group|channel|dm):)?(.*)$/is.exec(bare) ?? [];
  return /^[\w-]+$/.test(id) ? { scene: scene.toLowerCase() as Scene, id } : undefined;
}

export function normalizeTarget(raw: string): string | undefined {
  const text = raw.trim();
  const isOurs = /^qqbot:/i.test(text) || /^(?:c2c|group|channel|dm):/i.test(text) || /^[0-9a-f]{32}$/i.test(text) || /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
  const target = isOurs ? parseTarget(text) : undefined;
  return target && formatTarget(target);
}

export const formatTarget = (target: QQTarget): string => `qqbot:${target.scene}:${target.id}`;

/** Path of the endpoint that takes messages. */
export function messagePath({ scene, id }: QQTarget): string {
  const name = { c2c: "v2/users", group: "v2/groups", channel: "channels", dm: "dms" }[scene];
  return `/${name}/${encodeURIComponent(id)}/messages`;
}

/** Base of the file endpoints; guilds have none. */
export function filesBase({ scene, id }: QQTarget): string | undefined {
  if (scene === "c2c") return `/v2/users/${encodeURIComponent(id)}`;
  return scene === "group" ? `/v2/groups/${encodeURIComponent(id)}` : undefined;
}
