import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";

/** Ranges no fetch on behalf of a model or a stranger may reach (IANA special-purpose registries). */
const BLOCKED_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/** Only global unicast 2000::/3 is considered at all; of it these are not the public internet. */
const BLOCKED_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

function listOf(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [base = "", bits = "0"] = range.split("/");
    list.addSubnet(base, Number(bits), family);
  }
  return list;
}

const blockedV4 = listOf(BLOCKED_V4, "ipv4");
const blockedV6 = listOf(BLOCKED_V6, "ipv6");
const globalV6 = listOf(["2000::/3"], "ipv6");
const fakeIp = listOf(["198.18.0.0/15"], "ipv4");

/**
 * Whether an address lies in the public internet. IPv4-mapped, NAT64 and other embedding forms of IPv6 are outside
 * 2000::/3 and so refused, 6to4 and Teredo by their ranges.
 */
export function isPublicAddress(address: string): boolean {
  const ip = address.split("%", 1)[0] ?? "";
  if (isIPv4(ip)) return !blockedV4.check(ip, "ipv4");
  // ISATAP carries a private IPv4 address in the lower half of a global prefix.
  if (isIPv6(ip)) return globalV6.check(ip, "ipv6") && !blockedV6.check(ip, "ipv6") && !/(?:^|:)0?(?:200:)?5efe:/i.test(ip);
  return false;
}

/** 198.18.0.0/15: where fake-IP proxies resolve every name to (decisions §6); allowed for a platform's own hosts only. */
export const isFakeIpAddress = (address: string): boolean => isIP(address) === 4 && fakeIp.check(address, "ipv4");
