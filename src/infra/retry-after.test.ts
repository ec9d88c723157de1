import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { expect, it } from "vitest";
import { createRetryAfterLog, parseRetryAfter } from "./retry-after.ts";

it.each<[Record<string, string>, number | undefined]>([
  [{ "retry-after": "3" }, 3000],
  [{ "retry-after": " 0.5 " }, 500],
  [{ "retry-after-ms": "250", "retry-after": "3" }, 250],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:11 GMT" }, 10_000],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-3" }, undefined],
  [{}, undefined],
])("%j means %s ms", (headers, expected) => {
  expect(parseRetryAfter(new Map(Object.entries(headers)), 1000)).toBe(expected);
});

it("remembers what a refusing server asked for until the time is over", async () => {
  let nowMs = 1_000_000;
  const log = createRetryAfterLog(() => nowMs);
  let status = 429;
  const server = createServer((_req, res) => {
    res.writeHead(status, { "retry-after": "7" });
    res.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(log.remainingMs(url)).toBeUndefined();
    await (await fetch(`${url}/v1/x`)).text();
    expect(log.remainingMs(`${url}/v1`)).toBe(7000);
    nowMs += 6999;
    expect(log.remainingMs(url)).toBe(1);
    nowMs += 2;
    expect(log.remainingMs(url)).toBe(0);
    nowMs += 5000;
    expect(log.remainingMs(url)).toBeUndefined();
    status = 200;
    await (await fetch(url)).text();
    expect(log.remainingMs(url)).toBeUndefined();
  } finally {
    log.close();
    server.close();
  }
});
