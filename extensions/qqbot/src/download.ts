import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { ChannelError, type GuardedFetch, GuardedFetchError } from "openclaw/plugin-sdk";

/** Where QQ keeps what people send. Source: spec channels-cn §1.4. */
export const PLATFORM_HOSTS = ["qpic.cn", "qq.com", "weiyun.com", "qq.com.cn", "ugcimg.cn", "myqcloud.com", "tencentcos.cn", "tencentcos.com"];

/** `//host/x` is short for https. undefined for an address that is not QQ's. */
export function attachmentUrl(raw: string, allowOrigin: string): URL | undefined {
  const text = raw.startsWith("//") ? `https:${raw}` : raw;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.origin === new URL(allowOrigin).origin) return url;
  return url.protocol === "https:" && PLATFORM_HOSTS.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`)) ? url : undefined;
}

/** Saves what is at `url` under a new name in `dir`. @throws ChannelError with a text for the sender */
export async function downloadFile(
  url: string,
  options: { readonly fetch: GuardedFetch; readonly allowOrigin: string; readonly dir: string; readonly fileName?: string | undefined; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<{ readonly path: string; readonly mimeType: string | undefined; readonly sizeBytes: number }> {
  const from = attachmentUrl(url, options.allowOrigin);
  if (!from) throw new ChannelError("rejected", "附件地址不属于 QQ，未下载。", "Nothing: such links are not fetched.");
  let response: Awaited<ReturnType<GuardedFetch>>;
  try {
    response = await options.fetch(from, { signal: options.signal, maxBytes: options.maxBytes, timeoutMs: 120_000 });
  } catch (err) {
    if (err instanceof GuardedFetchError && err.code === "too-large") {
      throw new ChannelError("too-large", `⚠️ 文件过大，最大 ${Math.max(1, Math.floor(options.maxBytes / 1024 / 1024))}MB。`, "Raise channels.qqbot.mediaMaxMb.", { cause: err });
    }
    throw new ChannelError("unreachable", "⚠️ 附件下载失败，请重新发送。", "Check the connection to QQ's file servers.", { cause: err });
  }
  if (!response.ok) throw new ChannelError("unreachable", "⚠️ 附件下载失败，请重新发送。", `QQ's file server answered HTTP ${response.status}.`);
  const name = options.fileName ?? basename(from.pathname);
  const extension = extname(name).toLowerCase().replace(/[^.a-z0-9]/g, "").slice(0, 8);
  const stem = basename(name, extname(name)).replace(/[^\p{L}\p{N}_-]+/gu, "_").slice(0, 60);
  await mkdir(options.dir, { recursive: true, mode: 0o700 });
  const path = join(options.dir, `${stem === "" ? "" : `${stem}---`}${randomUUID()}${extension}`);
  await writeFile(path, response.body, { mode: 0o600, flag: "wx" });
  return { path, mimeType: response.headers.get("content-type")?.split(";")[0]?.trim() || undefined, sizeBytes: response.body.length };
}
