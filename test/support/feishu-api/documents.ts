import { parseMultipart } from "../telegram-api/multipart.ts";
import { type Answer, newId, ok, type Platform, type Recorded, refuse } from "./platform.ts";

type Fields = Record<string, unknown>;

/** Documents, wiki, drive, permissions, tables and scopes: the parts that the tools use. */
export function answerDocuments(platform: Platform, call: Recorded): Answer {
  const path = call.path.replace("/open-apis", "");
  const body = call.body as Fields;
  if (path.startsWith("/docx/v1/documents")) return docx(platform, call, path.replace("/docx/v1/documents", ""), body);
  if (path.startsWith("/wiki/v2")) return wiki(platform, call, path.replace("/wiki/v2/spaces", ""), body);
  if (path.startsWith("/drive/v1")) return drive(platform, call, path.replace("/drive/v1", ""), body);
  if (path.startsWith("/bitable/v1/apps")) return bitable(platform, call, path.replace("/bitable/v1/apps", ""), body);
  if (path === "/application/v6/scopes") return ok({ scopes: [{ scope_name: "im:message", grant_status: 1 }, { scope_name: "docx:document", grant_status: 2 }] });
  return refuse(404, "page not found", 404);
}

function docx(platform: Platform, call: Recorded, path: string, body: Fields): Answer {
  if (path === "" && call.method === "POST") {
    const id = newId("doc");
    platform.docs.set(id, { title: String(body["title"]), blocks: [] });
    return ok({ document: { document_id: id, title: body["title"], revision_id: 1 } });
  }
  if (path === "/blocks/convert") {
    if (body["content_type"] !== "markdown") return refuse(1770001, "invalid param");
    const lines = String(body["content"]).split("\n").filter(Boolean);
    const blocks = lines.map((line, at) => ({ block_id: `tmp${at}`, block_type: line.startsWith("|") ? 31 : line.startsWith("![") ? 27 : 2, parent_id: "", ...(line.startsWith("|") ? { table: { property: { row_size: 1, merge_info: [] } } } : {}), text: { elements: [{ text_run: { content: line } }] } }));
    const images = lines.flatMap((line, at) => { const url = /^!\[.*\]\((.+)\)/.exec(line)?.[1]; return url === undefined ? [] : [{ block_id: `tmp${at}`, image_url: url }]; });
    return ok({ blocks, first_level_block_ids: blocks.map((one) => one.block_id), block_id_to_image_urls: images });
  }
  const [, id = "", part, blockId = "", what] = path.split("/");
  const doc = platform.docs.get(id);
  if (!doc) return refuse(1770002, "not found", 404);
  if (part === undefined) return ok({ document: { document_id: id, title: doc.title, revision_id: 3 } });
  if (part === "raw_content") return ok({ content: doc.blocks.join("\n") });
  if (blockId === "") return ok({ items: doc.blocks.map((content, at) => ({ block_id: `${id}b${at}`, content })) });
  if (what === "descendant") {
    const { children_id: roots, descendants } = body as { children_id: string[]; descendants: { block_id: string; parent_id?: string; table?: { property?: Fields }; text: { elements: { text_run: { content: string } }[] } }[] };
    if (descendants.length > 1000 || descendants.some((one) => one.parent_id !== undefined || one.table?.property?.["merge_info"] !== undefined)) return refuse(1770001, "invalid param");
    const relations = roots.map((temporary_block_id, at) => ({ temporary_block_id, block_id: `${id}b${doc.blocks.length + at}` }));
    doc.blocks.push(...descendants.map((one) => one.text.elements[0]?.text_run.content ?? ""));
    return ok({ block_id_relations: relations });
  }
  if (what === "children" && path.endsWith("batch_delete")) {
    doc.blocks.splice(Number(body["start_index"]), Number(body["end_index"]) - Number(body["start_index"]));
    return ok({});
  }
  if (what === "children") return ok({ items: doc.blocks.map((_, at) => ({ block_id: `${id}b${at}` })), has_more: false });
  const at = Number(blockId.slice(`${id}b`.length));
  if (doc.blocks[at] === undefined) return refuse(1770002, "not found", 404);
  const elements = (body["update_text_elements"] as { elements: { text_run: { content: string } }[] } | undefined)?.elements;
  if (call.method === "PATCH" && elements) doc.blocks[at] = elements[0]?.text_run.content ?? "";
  return ok({ block: { block_id: blockId, parent_id: id, content: doc.blocks[at] } });
}

function wiki(platform: Platform, call: Recorded, path: string, body: Fields): Answer {
  if (path === "") return ok({ items: [{ space_id: "sp1", name: "Handbook" }] });
  if (path === "/get_node") return call.query.get("token") === "wikTable" ? ok({ node: { obj_type: "bitable", obj_token: "app1" } }) : ok({ node: { obj_type: "docx", obj_token: [...platform.docs.keys()][0] ?? "none", title: "Page" } });
  if (path.endsWith("/nodes") && call.method === "GET") return ok({ items: [{ node_token: "wik1", title: "Page" }] });
  if (path.endsWith("/nodes")) return body["title"] && body["node_type"] === "origin" ? ok({ node: { node_token: "wik2", title: body["title"] } }) : refuse(131002, "param err");
  return ok({});
}

function drive(platform: Platform, call: Recorded, path: string, body: Fields): Answer {
  if (path === "/files") return ok({ files: [{ token: "f1", name: "Plan", type: "docx" }] });
  if (path === "/metas/batch_query") return ok({ metas: (body["request_docs"] as { doc_token: string }[]).map(({ doc_token }) => ({ doc_token, title: "Plan" })) });
  if (path === "/files/create_folder") return body["folder_token"] ? ok({ token: "fold2" }) : refuse(1061002, "params error.");
  if (path === "/medias/upload_all") {
    const boundary = /boundary=(.+)$/.exec(String(call.headers["content-type"]))?.[1] ?? "";
    const sent = parseMultipart(call.bytes, boundary);
    return sent.fields["parent_type"] === "docx_image" && sent.files["file"] ? ok({ file_token: "media1" }) : refuse(1061002, "params error.");
  }
  const [, group, token = "", part, member] = path.split("/");
  if (group === "permissions" && part === "members") {
    const members = platform.members.get(token) ?? [];
    if (call.method === "GET") return ok({ items: members });
    const rest = members.filter((one) => one.member_id !== member);
    platform.members.set(token, call.method === "POST" ? [...members, body as never] : rest);
    return ok(call.method === "POST" ? { member: body } : {});
  }
  return call.method === "DELETE" && !call.query.get("type") ? refuse(1061002, "params error.") : ok({ task_id: "t1" });
}

function bitable(platform: Platform, call: Recorded, path: string, body: Fields): Answer {
  if (path === "") return ok({ app: { app_token: "app1", name: body["name"], default_table_id: "tbl1" } });
  const [, , tables, , kind, id] = path.split("/");
  if (tables === undefined) return ok({ app: { app_token: "app1", name: "Numbers" } });
  if (kind === undefined) return ok({ items: [{ table_id: "tbl1", name: "Table 1" }] });
  if (kind === "fields") return call.method === "GET" ? ok({ items: [{ field_id: "fld1", field_name: "Text", is_primary: true }, { field_id: "fld2", field_name: "Date" }] }) : ok({ field: body });
  if (id === "batch_delete") {
    for (const record of body["records"] as string[]) platform.records.delete(record);
    return ok({});
  }
  if (call.method === "GET" && id === undefined) return Number(call.query.get("page_size")) > 500 ? refuse(1254018, "invalid page_size") : ok({ items: [...platform.records].map(([record_id, fields]) => ({ record_id, fields })), has_more: false });
  const recordId = id ?? newId("rec");
  if (call.method === "POST" || call.method === "PUT") platform.records.set(recordId, body["fields"] as Fields);
  const fields = platform.records.get(recordId);
  return fields ? ok({ record: { record_id: recordId, fields } }) : refuse(1254043, "RecordIdNotFound");
}
