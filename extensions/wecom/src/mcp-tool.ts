import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { ChannelPlugin, OpenClawConfig } from "openclaw/plugin-sdk";
import { z } from "zod";
import type { BotLink } from "./bot/link.ts";
import { addressProblem, type WecomAccount } from "./config.ts";
import { WecomError } from "./errors.ts";
import { createAgent, sendHttp } from "./http.ts";

const TIMEOUT_MS = 30_000;
const MEDIA_TIMEOUT_MS = 120_000;
const MAX_RESULT_CHARS = 60_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Addresses of a category hold for a while. */
const ADDRESS_LIFE_MS = 30 * 60_000;

const params = z.object({ action: z.enum(["list", "call"]), category: z.string().regex(/^[\w-]{1,64}$/), method: z.string().optional(), args: z.union([z.record(z.string(), z.unknown()), z.string()]).optional() });
const address = z.looseObject({ url: z.string().optional(), mcp_url: z.string().optional() });

/** Calls by way of the egress proxy, which the process's own fetch does not know. */
function proxiedFetch(proxyUrl: string): FetchLike {
  return async (input, init) => {
    const url = String(input);
    // A standing stream of notices is not needed.
    if (init?.method !== "POST") return new Response(null, { status: 405 });
    const answer = await sendHttp({
      what: "run a method", method: "POST", url, headers: Object.fromEntries(new Headers(init.headers)), body: typeof init.body === "string" ? init.body : undefined,
      agent: createAgent(url, proxyUrl), timeoutMs: MEDIA_TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, ...(init.signal ? { signal: init.signal } : {}),
    });
    const headers = Object.entries(answer.headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as [string, string]] : []));
    return new Response(answer.body.length === 0 ? null : answer.body, { status: answer.status, headers });
  };
}

export interface McpToolDeps {
  readonly accountOf: (cfg: OpenClawConfig, accountId: string) => WecomAccount;
  readonly accountIds: (cfg: OpenClawConfig) => readonly string[];
  readonly defaultAccountId: (cfg: OpenClawConfig) => string;
  readonly link: (accountId: string) => BotLink | undefined;
  readonly now: () => number;
}

/** WeCom's own documents, schedules, to-dos and contacts for the agent, as far as the bot may. Source: spec channels-cn §2.5 (wecom_mcp). */
export function createMcpTool(deps: McpToolDeps): NonNullable<ChannelPlugin["agentTools"]> {
  const known = new Map<string, { readonly url: string; readonly until: number }>();

  async function addressOf(accountId: string, category: string): Promise<string> {
    const key = `${accountId}/${category}`;
    const before = known.get(key);
    if (before && deps.now() < before.until) return before.url;
    const link = deps.link(accountId);
    if (!link) throw new Error("The bot's long connection is not open; wecom_mcp needs it.");
    const body = address.safeParse(await link.request("aibot_get_mcp_config", { biz_type: category, plugin_version: "2026.2.25" }, { what: `open ${category} to the bot` })).data;
    const url = body?.url ?? body?.mcp_url;
    const problem = url === undefined ? `WeCom gave no address for ${category}: is this ability switched on for the bot?` : addressProblem(url);
    if (url === undefined || problem !== undefined) throw new Error(problem);
    known.set(key, { url, until: deps.now() + ADDRESS_LIFE_MS });
    return url;
  }

  async function ask({ proxyUrl }: Pick<WecomAccount, "proxyUrl">, url: string, given: z.infer<typeof params>, signal: AbortSignal | undefined): Promise<unknown> {
    const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([import("@modelcontextprotocol/sdk/client/index.js"), import("@modelcontextprotocol/sdk/client/streamableHttp.js")]);
    const client = new Client({ name: "openclaw", version: "2026.2.25" });
    const timeout = /media|file|upload|download/i.test(given.method ?? "") ? MEDIA_TIMEOUT_MS : TIMEOUT_MS;
    const options = { timeout, ...(signal ? { signal } : {}) };
    const transport = new StreamableHTTPClientTransport(new URL(url), proxyUrl === undefined ? {} : { fetch: proxiedFetch(proxyUrl) });
    try {
      // The SDK's own types disagree about optional members under exactOptionalPropertyTypes.
      await client.connect(transport as Parameters<typeof client.connect>[0], options);
      if (given.action === "list") return (await client.listTools({}, options)).tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
      return await client.callTool({ name: given.method ?? "", arguments: typeof given.args === "string" ? (JSON.parse(given.args) as Record<string, unknown>) : (given.args ?? {}) }, undefined, options);
    } finally {
      await client.close();
    }
  }

  return (cfg, run) => {
    const wanted = run?.channel === "wecom" ? run.accountId : undefined;
    const accountId = wanted ?? deps.defaultAccountId(cfg);
    const usable = deps.accountIds(cfg).includes(accountId) ? deps.accountOf(cfg, accountId) : undefined;
    if (usable?.enabled !== true || usable.problem !== undefined || usable.bot?.mode !== "websocket") return [];
    return [{
      name: "wecom_mcp", label: "WeCom",
      description: "WeCom abilities of the bot (doc, smartsheet, schedule, meeting, todo, contact, msg …): action list shows the methods of a category, call runs one. The skills wecom-* tell which to use.",
      parameters: {
        type: "object", required: ["action", "category"],
        properties: { action: { type: "string", enum: ["list", "call"] }, category: { type: "string", description: "contact, doc, meeting, schedule, todo, msg, smartsheet …" }, method: { type: "string" }, args: { type: "object", additionalProperties: true } },
      },
      async execute(_toolCallId, raw, signal) {
        const given = params.safeParse(raw);
        if (!given.success) throw new Error(`wecom_mcp: ${z.prettifyError(given.error)}`);
        if (given.data.action === "call" && !given.data.method) throw new Error("wecom_mcp: call needs method; action list shows the methods.");
        try {
          const result = await ask(usable, await addressOf(accountId, given.data.category), given.data, signal);
          return { content: [{ type: "text", text: JSON.stringify(result).slice(0, MAX_RESULT_CHARS) }], details: result };
        } catch (err) {
          known.delete(`${accountId}/${given.data.category}`);
          if (err instanceof WecomError) throw new Error(err.message, { cause: err });
          throw err;
        }
      },
    }];
  };
}
