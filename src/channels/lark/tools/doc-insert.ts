import { z } from "zod";
import { errorText } from "../../../infra/errors.ts";
import { createGuardedFetch } from "../../../infra/guarded-fetch.ts";
import { segment, type ToolCall } from "./define.ts";

/** Of one call of the platform. */
const MAX_BLOCKS = 900;
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
/** Blocks that other calls make. */
const TABLE = 31;

const block = z.looseObject({ block_id: z.string(), block_type: z.number(), children: z.array(z.string()).optional(), parent_id: z.string().optional(), table: z.looseObject({ property: z.looseObject({}).optional() }).optional() });
type Block = z.infer<typeof block>;
const converted = z.looseObject({
  blocks: z.array(block).default([]), first_level_block_ids: z.array(z.string()).default([]),
  block_id_to_image_urls: z.array(z.looseObject({ block_id: z.string(), image_url: z.string() })).nullish(),
});
const inserted = z.looseObject({ block_id_relations: z.array(z.looseObject({ block_id: z.string(), temporary_block_id: z.string() })).default([]) });
const uploaded = z.looseObject({ file_token: z.string() });

export interface InsertResult {
  readonly blocks_added: number;
  readonly images: number;
  readonly warning?: string | undefined;
}

/** Markdown at the end of a document, tables and nested lists included; images of the web are brought along. @throws LarkError */
export async function insertMarkdown(call: ToolCall, doc: string, markdown: string): Promise<InsertResult> {
  const answer = converted.parse(await call.call("POST", "/docx/v1/documents/blocks/convert", "read Markdown", { body: { content_type: "markdown", content: markdown } }));
  const byId = new Map(answer.blocks.map((one) => [one.block_id, one]));
  const realIds = new Map<string, string>();
  for (const part of inParts(answer.first_level_block_ids, byId)) {
    const body = { index: -1, children_id: part.roots, descendants: part.blocks.map(toInsertable) };
    const { block_id_relations: relations } = inserted.parse(await call.call("POST", `/docx/v1/documents/${segment(doc)}/blocks/${segment(doc)}/descendant`, "write into a document", { query: { document_revision_id: -1 }, body }));
    for (const { temporary_block_id: from, block_id: to } of relations) realIds.set(from, to);
  }
  const problems: string[] = [];
  let images = 0;
  for (const { block_id: id, image_url: url } of answer.block_id_to_image_urls ?? []) {
    try {
      await putImage(call, doc, realIds.get(id) ?? id, url);
      images++;
    } catch (err) {
      problems.push(`image ${url}: ${errorText(err)}`);
    }
  }
  return { blocks_added: answer.blocks.length, images, ...(problems.length > 0 ? { warning: problems.join("; ") } : {}) };
}

function inParts(roots: readonly string[], byId: ReadonlyMap<string, Block>): { readonly roots: string[]; readonly blocks: Block[] }[] {
  const parts: { roots: string[]; blocks: Block[] }[] = [];
  for (const root of roots) {
    const tree = descend(root, byId, new Set());
    const last = parts.at(-1);
    if (last && last.blocks.length + tree.length <= MAX_BLOCKS) {
      last.roots.push(root);
      last.blocks.push(...tree);
    } else parts.push({ roots: [root], blocks: tree });
  }
  return parts;
}

function descend(id: string, byId: ReadonlyMap<string, Block>, seen: Set<string>): Block[] {
  const own = byId.get(id);
  if (!own || seen.has(id)) return [];
  seen.add(id);
  return [own, ...(own.children ?? []).flatMap((child) => descend(child, byId, seen))];
}

/** Without what the platform only tells and does not take. */
function toInsertable({ parent_id: _parent, ...own }: Block): object {
  if (own.block_type !== TABLE || !own.table?.property) return own;
  const { merge_info: _merge, ...property } = own.table.property as Record<string, unknown>;
  return { ...own, table: { ...own.table, property } };
}

async function putImage(call: ToolCall, doc: string, blockId: string, url: string): Promise<void> {
  const picture = await createGuardedFetch()(url, { maxBytes: MAX_IMAGE_BYTES, signal: call.signal });
  if (!picture.ok) throw new Error(`HTTP ${picture.status}`);
  const form = new FormData();
  const name = new URL(url).pathname.split("/").at(-1) || "image";
  form.set("file_name", name);
  form.set("parent_type", "docx_image");
  form.set("parent_node", blockId);
  form.set("size", String(picture.body.byteLength));
  form.set("file", new Blob([Uint8Array.from(picture.body)]), name);
  const { file_token: token } = uploaded.parse(await call.call("POST", "/drive/v1/medias/upload_all", "take a picture", { body: form }));
  await call.call("PATCH", `/docx/v1/documents/${segment(doc)}/blocks/${segment(blockId)}`, "show a picture", { body: { replace_image: { token } } });
}
