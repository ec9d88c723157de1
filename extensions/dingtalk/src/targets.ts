/** A person by staffId (or the opaque `$:LWCP_v1:…` of somebody outside), or a group by openConversationId. Case counts in all. */
export type DingTalkTarget = { readonly kind: "user" | "group"; readonly id: string };

export const TARGET_HINT = "user:<staffId> or group:<cid…>";

/** `group:<cid…>`, `user:<staffId>`; bare: `cid…` is a group, anything else a person. Source: spec channels-cn §3.5. */
export function parseTarget(raw: string): DingTalkTarget | undefined {
  const bare = stripChannel(raw);
  const [, kind, rest = ""] = /^(?:(group|user):)?(.*)$/is.exec(bare) ?? [];
  const id = rest.trim();
  if (id === "" || /[\s\u0000-\u001f]/.test(id)) return undefined;
  if (kind !== undefined) return { kind: kind.toLowerCase() === "group" ? "group" : "user", id };
  return { kind: id.startsWith("cid") ? "group" : "user", id };
}

export const formatTarget = ({ kind, id }: DingTalkTarget): string => `${kind}:${id}`;

/** undefined for what does not look like an address of DingTalk. */
export function normalizeTarget(raw: string): string | undefined {
  const isOurs = /^(?:dingtalk|dd|ding|group|user):/i.test(raw.trim()) || /^cid[\w+/=-]+$/.test(raw.trim()) || isOpaqueId(raw.trim());
  const target = isOurs ? parseTarget(raw) : undefined;
  return target && formatTarget(target);
}

export const stripChannel = (text: string): string => text.trim().replace(/^(?:dingtalk|dd|ding):/i, "").trim();

/** People outside of the company have no staffId; such an id can be answered, but not written to first. */
export const isOpaqueId = (id: string): boolean => id.startsWith("$:");
