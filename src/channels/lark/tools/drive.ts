import { z } from "zod";
import { defineTool, need, segment } from "./define.ts";

const FILE_TYPES = ["doc", "docx", "sheet", "bitable", "mindnote", "slides", "file", "folder", "shortcut"] as const;

export const driveTool = defineTool({
  name: "feishu_drive", flag: "drive",
  description: "Feishu drive: list a folder, info, create_folder, move, delete. Bots have no root folder: work in folders shared with the app.",
  params: z.object({
    action: z.enum(["list", "info", "create_folder", "move", "delete"]),
    folder_token: z.string().optional().describe("from …/drive/folder/<token>"),
    file_token: z.string().optional(),
    type: z.enum(FILE_TYPES).optional(),
    name: z.string().optional(),
    page_token: z.string().optional(),
  }),
  async run({ action, folder_token, file_token, type, name, page_token }, { call }) {
    const file = (): string => `/drive/v1/files/${segment(need(file_token, "file_token", action))}`;
    switch (action) {
      case "list":
        return call("GET", "/drive/v1/files", "list a folder", { query: { folder_token, page_size: 100, page_token } });
      case "info":
        return call("POST", "/drive/v1/metas/batch_query", "describe a file", { query: { user_id_type: "open_id" }, body: { request_docs: [{ doc_token: need(file_token, "file_token", action), doc_type: type ?? "docx" }], with_url: true } });
      case "create_folder":
        return call("POST", "/drive/v1/files/create_folder", "create a folder", { body: { name: need(name, "name", action), folder_token: need(folder_token, "folder_token (a folder that is shared with the app)", action) } });
      case "move":
        return call("POST", `${file()}/move`, "move a file", { body: { type: need(type, "type", action), folder_token: need(folder_token, "folder_token", action) } });
      case "delete":
        return call("DELETE", file(), "delete a file", { query: { type: need(type, "type", action) } });
    }
  },
});

/** Off unless `tools.perm` is set: it decides who may read a person's documents. */
export const permTool = defineTool({
  name: "feishu_perm", flag: "perm", ownerOnly: true,
  description: "Feishu permissions of a document: list, add or remove who may view, edit or manage it. Ask the person before you change anything.",
  params: z.object({
    action: z.enum(["list", "add", "remove"]),
    token: z.string(),
    type: z.enum(["doc", "docx", "sheet", "bitable", "folder", "file", "wiki", "mindnote"]),
    member_type: z.enum(["email", "openid", "userid", "unionid", "openchat", "opendepartmentid"]).optional(),
    member_id: z.string().optional(),
    perm: z.enum(["view", "edit", "full_access"]).optional(),
  }),
  async run({ action, token, type, member_type, member_id, perm }, { call }) {
    const members = `/drive/v1/permissions/${segment(token)}/members`;
    switch (action) {
      case "list":
        return call("GET", members, "list who may use a document", { query: { type } });
      case "add":
        return call("POST", members, "let somebody use a document", {
          query: { type, need_notification: false },
          body: { member_type: need(member_type, "member_type", action), member_id: need(member_id, "member_id", action), perm: need(perm, "perm", action) },
        });
      case "remove":
        await call("DELETE", `${members}/${segment(need(member_id, "member_id", action))}`, "take a document from somebody", { query: { type, member_type: need(member_type, "member_type", action) } });
        return { success: true };
    }
  },
});

export const scopesTool = defineTool({
  name: "feishu_app_scopes", flag: "scopes",
  description: "Which permissions the Feishu app has, and which were asked for but not granted.",
  params: z.object({}),
  async run(_params, { call }) {
    const answer = z.looseObject({ scopes: z.array(z.looseObject({ scope_name: z.string(), grant_status: z.number().optional() })).default([]) }).parse((await call("GET", "/application/v6/scopes", "list the permissions of the app")) ?? {});
    const granted = answer.scopes.filter((scope) => scope.grant_status === 1).map((scope) => scope.scope_name);
    const pending = answer.scopes.filter((scope) => scope.grant_status !== 1).map((scope) => scope.scope_name);
    return { granted, pending, summary: `${granted.length} granted, ${pending.length} pending` };
  },
});
