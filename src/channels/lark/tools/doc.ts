import { z } from "zod";
import { asRecord, defineTool, need, segment, type ToolCall, ToolInputError } from "./define.ts";
import { insertMarkdown } from "./doc-insert.ts";

const document = z.looseObject({ document: z.looseObject({ document_id: z.string(), title: z.string().default(""), revision_id: z.number().optional() }) });
const rawContent = z.looseObject({ content: z.string().default("") });
const blockAnswer = z.looseObject({ block: z.looseObject({ block_id: z.string(), parent_id: z.string().optional(), children: z.array(z.string()).optional() }) });
const children = z.looseObject({ items: z.array(z.looseObject({ block_id: z.string() })).default([]), has_more: z.boolean().default(false), page_token: z.string().optional() });
const MAX_PAGES = 100;

const base = (doc: string): string => `/docx/v1/documents/${segment(doc)}`;
const blockPath = (doc: string, id: string): string => `${base(doc)}/blocks/${segment(id)}`;

async function childIds({ call }: ToolCall, doc: string, parent: string): Promise<string[]> {
  const ids: string[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = children.parse((await call("GET", `${blockPath(doc, parent)}/children`, "list blocks", { query: { page_size: 500, page_token: pageToken } })) ?? {});
    ids.push(...answer.items.map((item) => item.block_id));
    pageToken = answer.page_token;
    if (!answer.has_more || !pageToken) break;
  }
  return ids;
}

const removeRange = ({ call }: ToolCall, doc: string, parent: string, start: number, end: number): Promise<unknown> =>
  call("DELETE", `${blockPath(doc, parent)}/children/batch_delete`, "delete blocks", { query: { document_revision_id: -1 }, body: { start_index: start, end_index: end } });

async function write(call: ToolCall, doc: string, markdown: string): Promise<object> {
  const old = await childIds(call, doc, doc);
  if (old.length > 0) await removeRange(call, doc, doc, 0, old.length);
  return { success: true, blocks_deleted: old.length, ...(await insertMarkdown(call, doc, markdown)) };
}

async function deleteBlock(call: ToolCall, doc: string, id: string): Promise<object> {
  const { block } = blockAnswer.parse(await call.call("GET", blockPath(doc, id), "read a block"));
  const parent = block.parent_id || doc;
  const index = (await childIds(call, doc, parent)).indexOf(id);
  if (index < 0) throw new ToolInputError(`block ${id} is not a child of ${parent}`);
  await removeRange(call, doc, parent, index, index + 1);
  return { success: true, deleted_block_id: id };
}

export const docTool = defineTool({
  name: "feishu_doc", flag: "doc",
  description: "Feishu documents (docx): read, write (replaces everything by Markdown), append Markdown, create, list_blocks, get_block, update_block, delete_block.",
  params: z.object({
    action: z.enum(["read", "write", "append", "create", "list_blocks", "get_block", "update_block", "delete_block"]),
    doc_token: z.string().optional().describe("from …/docx/<token>; for …/wiki/<token> ask feishu_wiki get first"),
    content: z.string().optional().describe("Markdown; for update_block plain text"),
    title: z.string().optional(),
    folder_token: z.string().optional(),
    block_id: z.string().optional(),
    page_token: z.string().optional(),
  }),
  async run({ action, doc_token, content, title, folder_token, block_id, page_token }, call) {
    const doc = (): string => need(doc_token, "doc_token", action);
    const block = (): string => need(block_id, "block_id", action);
    switch (action) {
      case "read": {
        const { document: about } = document.parse(await call.call("GET", base(doc()), "describe a document"));
        const { content: text } = rawContent.parse((await call.call("GET", `${base(doc())}/raw_content`, "read a document")) ?? {});
        return { title: about.title, revision_id: about.revision_id, content: text };
      }
      case "write":
        return write(call, doc(), need(content, "content", action));
      case "append":
        return { success: true, ...(await insertMarkdown(call, doc(), need(content, "content", action))) };
      case "create": {
        const { document: made } = document.parse(await call.call("POST", "/docx/v1/documents", "create a document", { body: { title: need(title, "title", action), folder_token } }));
        const filled = content ? await insertMarkdown(call, made.document_id, content) : {};
        return { document_id: made.document_id, title: made.title, url: `https://${call.account.apiRoot.includes("larksuite") ? "larksuite.com" : "feishu.cn"}/docx/${made.document_id}`, ...filled };
      }
      case "list_blocks":
        return call.call("GET", `${base(doc())}/blocks`, "list blocks", { query: { page_size: 500, page_token } });
      case "get_block":
        return asRecord(await call.call("GET", blockPath(doc(), block()), "read a block"));
      case "update_block":
        await call.call("PATCH", blockPath(doc(), block()), "change a block", { body: { update_text_elements: { elements: [{ text_run: { content: need(content, "content", action) } }] } } });
        return { success: true, block_id };
      case "delete_block":
        return deleteBlock(call, doc(), block());
    }
  },
});
