import { expect, it } from "vitest";
import { startTestAccount } from "../../../test/support/feishu-api/account.ts";
import { APP2, GROUP } from "../../../test/support/feishu-api/index.ts";
import type { ChannelToolRun } from "../contract/index.ts";

type Account = Awaited<ReturnType<typeof startTestAccount>>;
const names = (account: Account, run?: ChannelToolRun): string[] => (account.plugin.agentTools?.(account.cfg, run) ?? []).map((tool) => tool.name);

async function use(account: Account, name: string, params: Record<string, unknown>, run?: ChannelToolRun): Promise<Record<string, unknown>> {
  const tool = account.plugin.agentTools?.(account.cfg, run).find((one) => one.name === name);
  const result = await tool?.execute("call1", params);
  const [block] = result?.content ?? [];
  return JSON.parse(block?.type === "text" ? block.text : "{}") as Record<string, unknown>;
}

it("the tools are there for accounts that can use them; each has its switch, permissions are off at first and for owners", async () => {
  await using account = await startTestAccount({ start: false });
  expect(names(account)).toEqual([
    "feishu_doc", "feishu_wiki", "feishu_drive", "feishu_app_scopes", "feishu_chat", "feishu_bitable_get_meta", "feishu_bitable_list_fields", "feishu_bitable_list_records", "feishu_bitable_get_record", "feishu_bitable_create_record",
    "feishu_bitable_update_record", "feishu_bitable_create_app", "feishu_bitable_create_field",
  ]);
  await using chosen = await startTestAccount({ start: false, config: { tools: { doc: false, wiki: false, drive: false, scopes: false, chat: false, bitable: false, perm: true } } });
  expect(chosen.plugin.agentTools?.(chosen.cfg).map((tool) => [tool.name, tool.ownerOnly, tool.parameters["type"]])).toEqual([["feishu_perm", true, "object"]]);
  await using none = await startTestAccount({ start: false, config: { appId: undefined } });
  expect(names(none)).toEqual([]);
});

it("they act with the credentials of the account of the run", async () => {
  await using account = await startTestAccount({ start: false, config: { accounts: { work: { appId: APP2, appSecret: "secret2", tools: { doc: false } } } } });
  const run = { channel: "feishu", accountId: "work" };
  expect([names(account).includes("feishu_doc"), names(account, run).includes("feishu_doc")]).toEqual([true, false]);
  await use(account, "feishu_chat", { action: "info", chat_id: GROUP }, run);
  expect(account.api.calls("tenant_access_token").map((call) => (call.body as { app_id: string }).app_id)).toEqual([APP2]);
});

it("documents are created, read, written, continued, and changed block by block, tables included", async () => {
  await using account = await startTestAccount({ start: false });
  const doc = (params: Record<string, unknown>) => use(account, "feishu_doc", params);
  const created = await doc({ action: "create", title: "Plan", content: "# One\n| a |\nlast" });
  expect(created).toMatchObject({ title: "Plan", blocks_added: 3, url: expect.stringContaining("/docx/") as string });
  const doc_token = created["document_id"];
  expect(await doc({ action: "append", doc_token, content: "more" })).toMatchObject({ success: true, blocks_added: 1 });
  expect(await doc({ action: "read", doc_token })).toMatchObject({ title: "Plan", content: "# One\n| a |\nlast\nmore" });
  expect(await doc({ action: "update_block", doc_token, block_id: `${String(doc_token)}b0`, content: "changed" })).toMatchObject({ success: true });
  expect(await doc({ action: "delete_block", doc_token, block_id: `${String(doc_token)}b1` })).toMatchObject({ success: true });
  expect(await doc({ action: "get_block", doc_token, block_id: `${String(doc_token)}b0` })).toMatchObject({ block: { content: "changed" } });
  expect(await doc({ action: "list_blocks", doc_token })).toMatchObject({ items: [{}, {}, {}] });
  expect(await doc({ action: "write", doc_token, content: "![p](http://127.0.0.1:9/x.png)\nnew" })).toMatchObject({ success: true, blocks_deleted: 3, images: 0, warning: expect.stringContaining("not on the public internet") as string });
  expect(await doc({ action: "read" })).toEqual({ error: 'action "read" needs doc_token' });
  expect(await doc({ action: "dance" })).toMatchObject({ error: expect.stringContaining("action") as string });
  expect(await doc({ action: "read", doc_token: "none" })).toMatchObject({ error: expect.stringContaining("not found") as string });
});

it("wiki, drive, permissions and scopes", async () => {
  await using account = await startTestAccount({ start: false, config: { tools: { perm: true } } });
  expect(await use(account, "feishu_wiki", { action: "spaces" })).toMatchObject({ items: [{ name: "Handbook" }] });
  expect(await use(account, "feishu_wiki", { action: "nodes", space_id: "sp1" })).toMatchObject({ items: [{ title: "Page" }] });
  expect(await use(account, "feishu_wiki", { action: "get", token: "wik1" })).toMatchObject({ node: { obj_type: "docx" } });
  expect(await use(account, "feishu_wiki", { action: "create", space_id: "sp1", title: "New" })).toMatchObject({ node: { title: "New" } });
  expect(await use(account, "feishu_wiki", { action: "rename", space_id: "sp1", node_token: "wik1", title: "Other" })).toEqual({ success: true, title: "Other" });
  expect(await use(account, "feishu_wiki", { action: "search", query: "x" })).toMatchObject({ error: expect.stringContaining("nodes") as string });
  expect(await use(account, "feishu_drive", { action: "list", folder_token: "fold1" })).toMatchObject({ files: [{ name: "Plan" }] });
  expect(await use(account, "feishu_drive", { action: "info", file_token: "f1", type: "docx" })).toMatchObject({ metas: [{ title: "Plan" }] });
  expect(await use(account, "feishu_drive", { action: "create_folder", name: "x" })).toMatchObject({ error: expect.stringContaining("folder_token") as string });
  expect(await use(account, "feishu_drive", { action: "delete", file_token: "f1", type: "docx" })).toMatchObject({ task_id: "t1" });
  const perm = { token: "f1", type: "docx", member_type: "openid", member_id: "ou_bob" };
  await use(account, "feishu_perm", { action: "add", perm: "edit", ...perm });
  expect(await use(account, "feishu_perm", { action: "list", ...perm })).toMatchObject({ items: [{ member_id: "ou_bob", perm: "edit" }] });
  expect(await use(account, "feishu_perm", { action: "remove", ...perm })).toEqual({ success: true });
  expect(await use(account, "feishu_app_scopes", {})).toEqual({ granted: ["im:message"], pending: ["docx:document"], summary: "1 granted, 1 pending" });
});

it("tables: address, fields, records, a new one without placeholders; rate limits are waited out", async () => {
  await using account = await startTestAccount({ start: false });
  const { api } = account;
  expect(await use(account, "feishu_bitable_get_meta", { url: "https://x.feishu.cn/wiki/wikTable?table=tbl1" })).toMatchObject({ app_token: "app1", table_id: "tbl1", tables: [{ table_id: "tbl1" }] });
  expect(await use(account, "feishu_bitable_get_meta", { url: "https://x.feishu.cn/docx/abc" })).toMatchObject({ error: expect.stringContaining("/base/") as string });
  api.platform.records.set("rec_empty", {});
  expect(await use(account, "feishu_bitable_create_app", { name: "Numbers" })).toMatchObject({ app_token: "app1", table_id: "tbl1", removed_placeholders: { rows: 1, fields: 1 } });
  const table = { app_token: "app1", table_id: "tbl1" };
  api.failNext(1, { path: "/records", status: 429, body: { code: 99991400, msg: "limit" }, headers: { "x-ogw-ratelimit-reset": "0" } });
  const { record } = (await use(account, "feishu_bitable_create_record", { ...table, fields: { Text: "a" } })) as { record: { record_id: string } };
  await use(account, "feishu_bitable_update_record", { ...table, record_id: record.record_id, fields: { Text: "b" } });
  expect(await use(account, "feishu_bitable_get_record", { ...table, record_id: record.record_id })).toMatchObject({ record: { fields: { Text: "b" } } });
  expect(await use(account, "feishu_bitable_list_records", table)).toMatchObject({ items: [{ fields: { Text: "b" } }] });
  expect(await use(account, "feishu_bitable_list_records", { ...table, page_size: 501 })).toMatchObject({ error: expect.stringContaining("page_size") as string });
  expect(await use(account, "feishu_bitable_list_fields", table)).toMatchObject({ items: [{ is_primary: true }, {}] });
  expect(await use(account, "feishu_bitable_create_field", { ...table, field_name: "When", type: 5 })).toMatchObject({ field: { field_name: "When" } });
});

it("groups: what one is, who is in it, which there are", async () => {
  await using account = await startTestAccount({ start: false });
  expect(await use(account, "feishu_chat", { action: "info", chat_id: GROUP })).toMatchObject({ name: "Team" });
  expect(await use(account, "feishu_chat", { action: "members", chat_id: GROUP, page_size: 100 })).toMatchObject({ items: [{ name: "Alice" }, { name: "Bob" }] });
  expect(await use(account, "feishu_chat", { action: "search", query: "Tea" })).toMatchObject({ items: [{ chat_id: GROUP }] });
  expect(await use(account, "feishu_chat", { action: "members", chat_id: GROUP, page_size: 101 })).toMatchObject({ error: expect.stringContaining("page_size") as string });
});
