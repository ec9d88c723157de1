export interface UploadedFile {
  readonly fileName: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

export interface FormBody {
  readonly fields: Record<string, string>;
  readonly files: Record<string, UploadedFile>;
}

export function parseMultipart(body: Buffer, boundary: string): FormBody {
  const fields: Record<string, string> = {};
  const files: Record<string, UploadedFile> = {};
  const marker = Buffer.from(`--${boundary}`);
  let at = body.indexOf(marker);
  while (at !== -1) {
    const start = at + marker.length + 2;
    const next = body.indexOf(marker, start);
    if (next === -1) break;
    const headerEnd = body.indexOf("\r\n\r\n", start);
    if (headerEnd !== -1 && headerEnd < next) {
      const headers = body.subarray(start, headerEnd).toString("utf8");
      const content = body.subarray(headerEnd + 4, next - 2);
      const name = /name="([^"]*)"/i.exec(headers)?.[1] ?? "";
      const fileName = /filename="?([^"\r\n]*)"?/i.exec(headers)?.[1];
      if (fileName === undefined) fields[name] = content.toString("utf8");
      else files[name] = { fileName, contentType: /content-type:\s*([^\r\n]+)/i.exec(headers)?.[1] ?? "application/octet-stream", bytes: Buffer.from(content) };
    }
    at = next;
  }
  return { fields, files };
}
