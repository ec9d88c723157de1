import { z } from "zod";
import { defineTool, need, segment } from "./define.ts";

/** Source: decisions §9.7. */
export const chatTool = defineTool({
  name: "feishu_chat", flag: "chat",
  description: "Feishu groups: info (name, owner, mode), members, search (groups the bot is in, by name).",
  params: z.object({
    action: z.enum(["info", "members", "search"]),
    chat_id: z.string().optional().describe("oc_…"),
    query: z.string().optional().describe("words of the name, for search"),
    page_size: z.coerce.number().int().min(1).max(100).optional(),
    page_token: z.string().optional(),
  }),
  async run({ action, chat_id, query, page_size = 50, page_token }, { call }) {
    const page = { page_size, page_token };
    switch (action) {
      case "info":
        return call("GET", `/im/v1/chats/${segment(need(chat_id, "chat_id", action))}`, "describe a group", { query: { user_id_type: "open_id" } });
      case "members":
        return call("GET", `/im/v1/chats/${segment(need(chat_id, "chat_id", action))}/members`, "list the members of a group", { query: { member_id_type: "open_id", ...page } });
      case "search":
        return query === undefined
          ? call("GET", "/im/v1/chats", "list the groups of the bot", { query: page })
          : call("GET", "/im/v1/chats/search", "search groups", { query: { query, ...page } });
    }
  },
});
