import { backoffDelayMs, type BackoffPolicy, sleep } from "../../infra/backoff.ts";
import { errorText } from "../../infra/errors.ts";
import { type ChannelAccountContext, ChannelError } from "../contract/index.ts";
import type { LarkApi } from "./api.ts";
import { isLoopbackHost, type LarkAccount } from "./config.ts";
import { LarkError } from "./errors.ts";
import { type LinkEnd, type LinkTimings, pingIntervalMs, runLink } from "./link.ts";

export interface ConnectionTimings extends LinkTimings {
  readonly backoff: BackoffPolicy;
}

export const CONNECTION_TIMINGS: ConnectionTimings = {
  pingMs: 60_000, pongMs: 20_000, connectMs: 20_000,
  backoff: { initialMs: 500, maxMs: 60_000, factor: 2, jitter: 0.3 },
};
/** A link that lived so long was a good one: the next tries begin from the start. */
const STABLE_MS = 10_000;

export type TakeEvent = (payload: Buffer) => Promise<{ readonly data?: unknown } | undefined>;

/** The long connection of one account until its signal aborts. @throws ChannelError `auth` when the credentials are refused */
export async function runConnection(deps: { readonly ctx: ChannelAccountContext<LarkAccount>; readonly api: LarkApi; readonly timings: ConnectionTimings; readonly take: TakeEvent }): Promise<void> {
  const { ctx, timings } = deps;
  const { signal, log, now } = ctx;
  let attempt = 0;
  while (!signal.aborted) {
    const startedMs = now();
    const end = await connectOnce(deps);
    if (end.kind === "stopped" || signal.aborted) break;
    attempt = now() - startedMs >= STABLE_MS ? 1 : attempt + 1;
    const delayMs = backoffDelayMs(timings.backoff, attempt);
    ctx.setStatus({ connected: false, reconnectAttempts: attempt, lastError: end.reason });
    log[attempt === 1 ? "warn" : "debug"]("connection to Feishu lost, connecting again", { reason: end.reason, attempt, delayMs });
    await sleep(delayMs, signal);
  }
  ctx.setStatus({ connected: false });
}

async function connectOnce(deps: Parameters<typeof runConnection>[0]): Promise<LinkEnd> {
  const { ctx, api, timings } = deps;
  try {
    const { url, clientConfig } = await api.endpoint(ctx.signal);
    const problem = addressProblem(url);
    if (problem !== undefined) return { kind: "lost", reason: problem };
    return await runLink({
      url, pingMs: pingIntervalMs(clientConfig), timings, signal: ctx.signal, now: ctx.now, onEvent: deps.take,
      onOpen() {
        ctx.setStatus({ connected: true, lastConnectedAt: ctx.now(), lastError: null, reconnectAttempts: 0 });
        ctx.log.info("connected to Feishu");
      },
      onHeard: () => ctx.setStatus({ lastEventAt: ctx.now() }),
      onProblem: (message, reason) => ctx.log.warn(message, { reason }),
    });
  } catch (err) {
    if (ctx.signal.aborted) return { kind: "stopped" };
    // Any other refusal may pass (too many connections, a busy platform): it is asked again, ever more slowly.
    if (err instanceof LarkError && (err.kind === "credentials" || err.kind === "token")) throw toStartError(err, ctx.account);
    return { kind: "lost", reason: errorText(err) };
  }
}

/** Such an answer stays the same however often one asks. */
export const isFinal = (err: LarkError): boolean => err.kind === "credentials" || err.kind === "token" || err.kind === "permission" || err.kind === "refused";

export const toStartError = (err: LarkError, { configPath }: LarkAccount): ChannelError =>
  new ChannelError("auth", err.message, `Check ${configPath}.appId and appSecret, that the app has the bot ability, and that a version of it is published.`, { cause: err });

function addressProblem(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === "wss:" || (url?.protocol === "ws:" && isLoopbackHost(url.hostname))) return undefined;
  return "Feishu gave an address for the connection that is not encrypted";
}
