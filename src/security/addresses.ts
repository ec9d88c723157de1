import { BlockList, isIP, isIPv4 } from "node:net";

/** An address in one spelling: no brackets, no zone, IPv4-mapped IPv6 as IPv4, lower case. "" when it is no address. */
export function normalizeAddress(address: string | undefined): string {
  if (!address) return "";
  let text = address.trim().toLowerCase();
  if (text.startsWith("[")) text = text.slice(1, text.indexOf("]") === -1 ? undefined : text.indexOf("]"));
  const zone = text.indexOf("%");
  if (zone !== -1) text = text.slice(0, zone);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1];
  if (mapped) text = mapped;
  if (isIP(text) === 0) return "";
  if (isIPv4(text)) return text;
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(text);
  if (!hex) return text;
  const high = Number.parseInt(hex[1] ?? "0", 16);
  const low = Number.parseInt(hex[2] ?? "0", 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

export function isLoopbackAddress(address: string | undefined): boolean {
  const ip = normalizeAddress(address);
  return ip === "::1" || ip.startsWith("127.");
}

/** Whether `address` is one of `entries` (addresses or CIDR ranges). A malformed entry matches nothing. */
export function matchesAddressList(address: string, entries: readonly string[] | undefined): boolean {
  const ip = normalizeAddress(address);
  if (ip === "" || !entries || entries.length === 0) return false;
  const list = new BlockList();
  for (const entry of entries) addEntry(list, entry);
  return list.check(ip, isIPv4(ip) ? "ipv4" : "ipv6");
}

function addEntry(list: BlockList, entry: string): void {
  const [base = "", prefix] = entry.trim().split("/");
  const ip = normalizeAddress(base);
  if (ip === "") return;
  const family = isIPv4(ip) ? "ipv4" : "ipv6";
  if (prefix === undefined) return list.addAddress(ip, family);
  const bits = Number(prefix);
  if (/^\d{1,3}$/.test(prefix) && bits <= (family === "ipv4" ? 32 : 128)) list.addSubnet(ip, bits, family);
}

/** Hostname of a Host header or URL authority: lower case, without port, brackets or a trailing dot. */
export function hostnameOf(authority: string | undefined): string {
  if (!authority) return "";
  const text = authority.trim().toLowerCase();
  const v6 = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  if (v6 !== undefined) return v6;
  const match = /^([^:/@\s]+)(?::\d{1,5})?$/.exec(text);
  return (match?.[1] ?? "").replace(/\.$/, "");
}

export const isLoopbackHostname = (hostname: string): boolean =>
  hostname === "localhost" || hostname.endsWith(".localhost") || isLoopbackAddress(hostname);
