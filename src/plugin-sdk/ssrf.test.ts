import { describe, expect, it } from "vitest";
import * as sdk from "./index.ts";

describe("addresses that are not fetched", () => {
  it.each(["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "10.1.2.3", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1%eth0", "169.254.169.254", "[fd00::1]"])("%s is private", (address) => {
    expect(sdk.isPrivateIpAddress(address)).toBe(true);
  });
  it.each(["8.8.8.8", "2606:4700::1111", "example.com", ""])("%j is not", (address) => expect(sdk.isPrivateIpAddress(address)).toBe(false));
  it.each(["localhost", "LOCALHOST.", "a.local", "x.internal", "sub.localhost"])("%s is blocked", (name) => expect(sdk.isBlockedHostname(name)).toBe(true));
  it("example.com is not blocked", () => expect(sdk.isBlockedHostnameOrIp("example.com")).toBe(false));
});
