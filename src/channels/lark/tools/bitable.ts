import { z } from "zod";
import { defineTool, type LarkTool, segment, type ToolCall, ToolInputError } from "./define.ts";

const appToken = z.string().describe("app_token, from feishu_bitable_get_meta");
const tableId = z.string().describe("tbl…");
const fields = z.record(z.string(), z.unknown()).describe("field name → value");
const inTable = { app_token: appToken, table_id: tableId };
const tables = (app: string): string => `/bitable/v1/apps/${segment(app)}/tables`;
const table = (app: string, id: string): string => `${tables(app)}/${segment(id)}`;

const wikiNode = z.looseObject({ node: z.looseObject({ obj_type: z.string(), obj_token: z.string() }) });
const tableList = z.looseObject({ items: z.array(z.looseObject({ table_id: z.string(), name: z.string().default("") })).default([]) });
const fieldList = z.looseObject({ items: z.array(z.looseObject({ field_id: z.string(), field_name: z.string().default(""), is_primary: z.boolean().default(false) })).default([]) });
const recordList = z.looseObject({ items: z.array(z.looseObject({ record_id: z.string() })).nullish() });
const createdApp = z.looseObject({ app: z.looseObject({ app_token: z.string(), default_table_id: z.string().optional() }) });

/** `…/base/<app>?table=tbl` or `…/wiki/<node>?table=tbl`. @throws ToolInputError for another address */
async function resolveApp(address: string, { call }: ToolCall): Promise<{ readonly app: string; readonly tableId: string | undefined }> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, kind, token] = /\/(base|wiki)\/(\w+)/.exec(url?.pathname ?? "") ?? [];
  if (!url || !kind || !token) throw new ToolInputError("url must look like https://…/base/<token>?table=<tbl…> or https://…/wiki/<token>?table=<tbl…>");
  const tableId = url.searchParams.get("table") ?? undefined;
  if (kind === "base") return { app: token, tableId };
  const { node } = wikiNode.parse(await call("GET", "/wiki/v2/spaces/get_node", "describe a wiki page", { query: { token } }));
  if (node.obj_type !== "bitable") throw new ToolInputError(`this wiki page is a ${node.obj_type}, not a bitable`);
  return { app: node.obj_token, tableId };
}

/** A new app comes with a table of empty rows and sample fields, which nobody asked for. */
async function clearPlaceholders(app: string, id: string, { call }: ToolCall): Promise<{ readonly rows: number; readonly fields: number }> {
  const records = recordList.parse((await call("GET", `${table(app, id)}/records`, "list records", { query: { page_size: 500 } })) ?? {}).items ?? [];
  if (records.length > 0) await call("POST", `${table(app, id)}/records/batch_delete`, "delete placeholder rows", { body: { records: records.map((record) => record.record_id) } });
  const extra = fieldList.parse((await call("GET", `${table(app, id)}/fields`, "list fields", { query: { page_size: 100 } })) ?? {}).items.filter((field) => !field.is_primary);
  for (const field of extra) await call("DELETE", `${table(app, id)}/fields/${segment(field.field_id)}`, "delete a placeholder field");
  return { rows: records.length, fields: extra.length };
}

export const bitableTools: readonly LarkTool[] = [
  defineTool({
    name: "feishu_bitable_get_meta", flag: "bitable",
    description: "Reads a bitable address: app_token, table_id, and the tables there are.",
    params: z.object({ url: z.string() }),
    async run({ url }, call) {
      const { app, tableId: id } = await resolveApp(url, call);
      const meta = await call.call("GET", `/bitable/v1/apps/${segment(app)}`, "describe a bitable");
      const { items } = tableList.parse((await call.call("GET", tables(app), "list tables", { query: { page_size: 100 } })) ?? {});
      return { app_token: app, table_id: id, app: meta, tables: items.map(({ table_id, name }) => ({ table_id, name })), hint: id === undefined ? "Choose a table_id." : undefined };
    },
  }),
  defineTool({
    name: "feishu_bitable_list_fields", flag: "bitable", description: "Fields of a bitable table.", params: z.object(inTable),
    run: ({ app_token, table_id }, { call }) => call("GET", `${table(app_token, table_id)}/fields`, "list fields", { query: { page_size: 100 } }),
  }),
  defineTool({
    name: "feishu_bitable_list_records", flag: "bitable", description: "Records of a bitable table, page by page.",
    params: z.object({ ...inTable, page_size: z.coerce.number().int().min(1).max(500).optional(), page_token: z.string().optional() }),
    run: ({ app_token, table_id, page_size = 100, page_token }, { call }) => call("GET", `${table(app_token, table_id)}/records`, "list records", { query: { page_size, page_token } }),
  }),
  defineTool({
    name: "feishu_bitable_get_record", flag: "bitable", description: "One record of a bitable table.", params: z.object({ ...inTable, record_id: z.string() }),
    run: ({ app_token, table_id, record_id }, { call }) => call("GET", `${table(app_token, table_id)}/records/${segment(record_id)}`, "read a record"),
  }),
  defineTool({
    name: "feishu_bitable_create_record", flag: "bitable", description: "Adds a record to a bitable table.", params: z.object({ ...inTable, fields }),
    run: ({ app_token, table_id, fields: values }, { call }) => call("POST", `${table(app_token, table_id)}/records`, "add a record", { body: { fields: values } }),
  }),
  defineTool({
    name: "feishu_bitable_update_record", flag: "bitable", description: "Changes fields of a record.", params: z.object({ ...inTable, record_id: z.string(), fields }),
    run: ({ app_token, table_id, record_id, fields: values }, { call }) => call("PUT", `${table(app_token, table_id)}/records/${segment(record_id)}`, "change a record", { body: { fields: values } }),
  }),
  defineTool({
    name: "feishu_bitable_create_app", flag: "bitable", description: "Creates a bitable with one empty table.", params: z.object({ name: z.string(), folder_token: z.string().optional() }),
    async run({ name, folder_token }, call) {
      const { app } = createdApp.parse(await call.call("POST", "/bitable/v1/apps", "create a bitable", { body: { name, folder_token } }));
      const id = app.default_table_id ?? tableList.parse((await call.call("GET", tables(app.app_token), "list tables")) ?? {}).items[0]?.table_id;
      const removed = id === undefined ? undefined : await clearPlaceholders(app.app_token, id, call);
      return { ...app, table_id: id, removed_placeholders: removed };
    },
  }),
  defineTool({
    name: "feishu_bitable_create_field", flag: "bitable", description: "Adds a field: type 1 text, 2 number, 3 single choice, 4 multiple choice, 5 date, 7 checkbox, 11 person, 13 phone, 15 link, 17 attachment.",
    params: z.object({ ...inTable, field_name: z.string(), type: z.coerce.number().int(), property: z.record(z.string(), z.unknown()).optional() }),
    run: ({ app_token, table_id, field_name, type, property }, { call }) => call("POST", `${table(app_token, table_id)}/fields`, "add a field", { body: { field_name, type, property } }),
  }),
];
