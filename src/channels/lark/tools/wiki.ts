import { z } from "zod";
import { defineTool, need, segment, ToolInputError } from "./define.ts";

const node = (spaceId: string, token: string): string => `/wiki/v2/spaces/${segment(spaceId)}/nodes/${segment(token)}`;

export const wikiTool = defineTool({
  name: "feishu_wiki", flag: "wiki",
  description: "Feishu wiki: spaces, nodes (children), get (node → obj_token for feishu_doc), create, move, rename.",
  params: z.object({
    action: z.enum(["spaces", "nodes", "get", "search", "create", "move", "rename"]),
    space_id: z.string().optional(),
    token: z.string().optional().describe("node token, from …/wiki/<token>"),
    node_token: z.string().optional(),
    parent_node_token: z.string().optional(),
    target_space_id: z.string().optional(),
    target_parent_token: z.string().optional(),
    title: z.string().optional(),
    obj_type: z.enum(["docx", "sheet", "bitable", "mindnote", "file"]).optional(),
    query: z.string().optional(),
    page_token: z.string().optional(),
  }),
  async run(params, { call }) {
    const { action, space_id, title, page_token } = params;
    const token = params.token ?? params.node_token;
    switch (action) {
      case "spaces":
        return call("GET", "/wiki/v2/spaces", "list wiki spaces", { query: { page_size: 50, page_token } });
      case "nodes":
        return call("GET", `/wiki/v2/spaces/${segment(need(space_id, "space_id", action))}/nodes`, "list wiki pages", { query: { page_size: 50, page_token, parent_node_token: params.parent_node_token } });
      case "get":
        return call("GET", "/wiki/v2/spaces/get_node", "describe a wiki page", { query: { token: need(token, "token", action) } });
      case "search":
        throw new ToolInputError("Feishu lets only people search the wiki, not bots: list the pages with action \"nodes\" instead.");
      case "create":
        return call("POST", `/wiki/v2/spaces/${segment(need(space_id, "space_id", action))}/nodes`, "create a wiki page", { body: { obj_type: params.obj_type ?? "docx", node_type: "origin", title: need(title, "title", action), parent_node_token: params.parent_node_token } });
      case "move":
        return call("POST", `${node(need(space_id, "space_id", action), need(token, "node_token", action))}/move`, "move a wiki page", { body: { target_space_id: params.target_space_id ?? space_id, target_parent_token: params.target_parent_token } });
      case "rename":
        await call("POST", `${node(need(space_id, "space_id", action), need(token, "node_token", action))}/update_title`, "rename a wiki page", { body: { title: need(title, "title", action) } });
        return { success: true, title };
    }
  },
});
