import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ChannelError, type InboundMediaRef } from "../channels/contract/index.ts";
import { silentLogger } from "../infra/log.ts";
import { createMediaDownload } from "./media-download.ts";

it("a file that never comes is given up in time and told; the others of the message arrive", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "openclaw-media-"));
  const download = createMediaDownload({
    config: () => ({}), stateDir, log: silentLogger, signal: new AbortController().signal, timeLimitMs: 50,
    channel: () => ({
      gateway: {
        downloadMedia: (_cfg, _account, media, { signal }) =>
          media.ref === "hangs"
            ? new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new ChannelError("unreachable", "aborted", "")), { once: true }))
            : Promise.resolve({ path: `/m/${media.ref}`, mimeType: "image/png", sizeBytes: 1 }),
      },
    }),
  });
  const media = (ref: string): InboundMediaRef => ({ kind: "image", ref });
  expect(await download({ channel: "x", accountId: "default", media: [media("a"), media("hangs")] })).toEqual({
    media: [{ path: "/m/a", mimeType: "image/png", sizeBytes: 1 }], problem: "A file of your message could not be fetched in time; I go on without it.",
  });
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});
