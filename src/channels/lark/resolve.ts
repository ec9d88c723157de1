import { z } from "zod";
import type { ResolvedTarget } from "../contract/index.ts";
import { type LarkApi, read } from "./api.ts";
import { LarkError } from "./errors.ts";
import { resolveDestination } from "./messages.ts";

const userAnswer = z.looseObject({ user: z.looseObject({ name: z.string().default(""), en_name: z.string().default("") }) });
const chatAnswer = z.looseObject({ name: z.string().default("") });
const idsAnswer = z.looseObject({ user_list: z.array(z.looseObject({ user_id: z.string().optional(), email: z.string().optional(), mobile: z.string().optional() })).default([]) });

/** People by open id, e-mail address or mobile number; groups by id or name. Source: the platform's contact and group interfaces. */
export async function resolveTargets(api: LarkApi, accountId: string, query: { readonly inputs: readonly string[]; readonly kind: "user" | "group"; readonly signal: AbortSignal }): Promise<ResolvedTarget[]> {
  const { inputs, kind, signal } = query;
  const get = (path: string, what: string): Promise<unknown> => api.call("GET", path, { what, query: kind === "user" ? { user_id_type: "open_id" } : {}, signal, patient: true });

  async function idOf(wanted: string): Promise<string> {
    if (kind === "group") return (await resolveDestination(api, { accountId, to: wanted }, signal)).target.id;
    if (wanted.startsWith("ou_")) return wanted;
    const by = wanted.includes("@") ? "emails" : "mobiles";
    if (by === "mobiles" && !/^\+?\d{6,}$/.test(wanted)) throw new LarkError("refused", "people are found by open id (ou_…), e-mail address or mobile number");
    const body = { [by]: [wanted] };
    const { user_list: found } = read(idsAnswer, await api.call("POST", "/contact/v3/users/batch_get_id", { what: "find a person", query: { user_id_type: "open_id" }, body, signal, patient: true }), "list of people");
    const id = found.find((user) => user.user_id)?.user_id;
    if (id === undefined) throw new LarkError("refused", `nobody with ${wanted} is visible to the app`);
    return id;
  }

  async function nameOf(id: string): Promise<string | undefined> {
    if (kind === "group") return read(chatAnswer, await get(`/im/v1/chats/${encodeURIComponent(id)}`, "describe a group"), "group").name || undefined;
    const { user } = read(userAnswer, await get(`/contact/v3/users/${encodeURIComponent(id)}`, "describe a person"), "person");
    return user.name || user.en_name || undefined;
  }

  return Promise.all(inputs.map(async (input): Promise<ResolvedTarget> => {
    const wanted = input.trim().replace(/^(?:feishu|lark):/i, "").replace(kind === "user" ? /^user:/i : /^(?:chat|group):/i, "");
    try {
      const id = await idOf(wanted);
      return { input, resolved: true, id, name: await nameOf(id) };
    } catch (err) {
      if (err instanceof LarkError) return { input, resolved: false, note: err.message };
      throw err;
    }
  }));
}
