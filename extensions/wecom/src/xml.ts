import { XMLParser } from "fast-xml-parser";

/** The fields of `<xml>…</xml>` as texts; nested elements are left out. @throws Error for what is no such document */
export function readXml(text: string): Readonly<Record<string, string>> {
  // Entities of the document's own could grow without limit.
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) throw new Error("the XML declares a document type");
  const parsed: unknown = new XMLParser({ ignoreAttributes: true, parseTagValue: false, trimValues: false, processEntities: true }).parse(text, true);
  const root = typeof parsed === "object" && parsed !== null && "xml" in parsed ? parsed.xml : undefined;
  if (typeof root !== "object" || root === null) throw new Error("the XML has no <xml> element");
  return Object.fromEntries(Object.entries(root).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}
