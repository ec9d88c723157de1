const MAX_TEXT_BYTES = 64 * 1024;

/**
 * `<faceType=1,faceId="13",ext="BASE64">` → `【表情: 呲牙】`; a tag that cannot be decoded stays as it is.
 * Source: spec channels-cn §1.4.
 */
export function parseFaceTags(text: string): string {
  return text.replace(/<faceType=\d+,faceId="[^"]*",ext="([^"]*)">/g, (tag: string, ext: string) => {
    if (ext.length > MAX_TEXT_BYTES * 2) return "【表情: 未知表情】";
    const bytes = Buffer.from(ext, "base64");
    if (bytes.length > MAX_TEXT_BYTES) return "【表情: 未知表情】";
    try {
      const decoded: unknown = JSON.parse(bytes.toString("utf8"));
      const name = typeof decoded === "object" && decoded !== null && "text" in decoded && typeof decoded.text === "string" ? decoded.text.trim() : "";
      return `【表情: ${name === "" ? "未知表情" : name}】`;
    } catch {
      return tag;
    }
  });
}
