import { expect, it } from "vitest";
import { brokenProvider, call, fail, piece, say, sse, type Answer, type BrokenProvider } from "../support/broken-provider.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startFakeTelegram, type FakeTelegram } from "../support/telegram-api/index.ts";

async function start(telegram: FakeTelegram, provider: BrokenProvider, more: Record<string, unknown> = {}, channel: Record<string, unknown> = {}) {
  const g = await startTestGateway({ config: { ...provider.config, channels: { telegram: { botToken: telegram.token, apiRoot: telegram.url, allowFrom: [42], streamMode: "off", ...channel } }, ...more } });
  await g.gateway.ready;
  return g;
}

const texts = (telegram: FakeTelegram): (string | undefined)[] => telegram.sent().map((message) => message.text);

it.each<[string, Answer[], RegExp]>([
  ["429 with a time to wait", [fail(429, "slow down, retry after 1s", { "retry-after": "1" })], /^well again$/],
  ["503 and then 500", [fail(503, "service unavailable"), fail(500, "oops")], /^well again$/],
  ["a connection that breaks before the first byte", [(res) => res.destroy()], /^well again$/],
  ["a stream cut in mid-word", [(res) => { sse(res, piece({ role: "assistant", content: "the ans" })); setTimeout(() => res.destroy(), 50); }], /^well again$/],
  ["a stream that ends without finish", [(res) => { sse(res, piece({ role: "assistant", content: "half" })); res.end(); }], /half|well again/],
  ["a line that is no JSON", [(res) => { sse(res, piece({ role: "assistant", content: "x" }), "{broken"); res.end(); }], /well again|⚠️/],
  ["HTML instead of a stream", [(res) => { res.writeHead(200, { "content-type": "text/html" }); res.end("<html>login</html>"); }], /well again|⚠️/],
  ["nothing at all", [say()], /⚠️ The model gave an empty answer/],
  ["only white space", [say("  \n ")], /⚠️ The model gave an empty answer/],
  ["a tool call with arguments cut off", [call("read", '{"path": "AGENTS'), say("recovered")], /^recovered$|⚠️/],
  ["a tool call with arguments that are no object", [call("read", "[1,2"), say("recovered")], /^recovered$/],
  ["a tool that does not exist", [call("launch_rocket", "{}"), say("recovered")], /^recovered$/],
  ["the finish of a tool call without any call", [(res) => { sse(res, piece({ role: "assistant", content: "Let me look." }), piece({}, "tool_calls"), "[DONE]"); res.end(); }], /Let me look\.|well again|⚠️/],
  ["an error inside the stream", [(res) => { sse(res, { error: { message: "engine crashed", code: 500 } }); res.end(); }], /well again|⚠️/],
])("a provider that gives %s: one understandable answer, and the next message works", async (_name, answers, expected) => {
  await using telegram = await startFakeTelegram();
  await using provider = await brokenProvider(...answers);
  await using _g = await start(telegram, provider);
  telegram.text("question");
  await telegram.waitUntil(() => telegram.sent().length > 0);
  expect(texts(telegram)).toEqual([expect.stringMatching(expected)]);
  telegram.text("next question");
  await telegram.waitUntil(() => telegram.sent().length > 1);
  expect(texts(telegram).slice(1)).toEqual(["well again"]);
});

it("a conversation that no longer fits is summarised and answered, and the next message works", async () => {
  await using telegram = await startFakeTelegram();
  const long = "word ".repeat(2000);
  await using provider = await brokenProvider(say(long), say(long), say(long), fail(400, "This model's maximum context length is 32000 tokens"), say("## Goal\nsummary of before"), say("after the summary"));
  await using _g = await start(telegram, provider);
  for (const [index, text] of ["one", "two", "three"].entries()) {
    const before = telegram.sent().length;
    telegram.text(text);
    await telegram.waitUntil(() => telegram.sent().length > before && provider.bodies.length === index + 1);
    await telegram.waitUntil(() => telegram.sent().length >= (index + 1) * 3);
  }
  telegram.text("four");
  await telegram.waitUntil(() => texts(telegram).some((text) => text?.includes("after the summary") || text?.includes("⚠️")), "answer", 20_000);
  expect(texts(telegram).at(-1)).toBe("after the summary");
  telegram.text("five");
  await telegram.waitUntil(() => texts(telegram).at(-1) === "well again");
});

it.each(["before the first token", "in mid-answer", "while a tool runs"])("stopped %s: the run ends, and the next message works", async (phase) => {
  await using telegram = await startFakeTelegram();
  await using provider = await brokenProvider(
    phase === "before the first token" ? () => undefined
    : phase === "in mid-answer" ? (res) => sse(res, piece({ role: "assistant", content: "I begin to " }))
    : call("exec", JSON.stringify({ command: "sleep 30" })),
  );
  await using g = await start(telegram, provider);
  telegram.text("question");
  await telegram.waitUntil(() => provider.bodies.length === 1);
  if (phase !== "before the first token") await expect.poll(() => g.gateway.context.agents.runs.bySession("agent:main:main").length).toBe(1);
  telegram.text("stop");
  await telegram.waitUntil(() => telegram.sent().length > 0);
  expect(texts(telegram)).toEqual(["⚙️ Stopped."]);
  telegram.text("next question");
  await telegram.waitUntil(() => telegram.sent().length > 1);
  expect(texts(telegram).slice(1)).toEqual(["well again"]);
});

it("a provider that is silent until the run's time is up is reported once", async () => {
  await using telegram = await startFakeTelegram();
  await using provider = await brokenProvider(() => undefined);
  await using _g = await start(telegram, provider, { agents: { defaults: { model: { primary: "mock/gpt-mock" }, timeoutSeconds: 1 } } });
  telegram.text("question");
  await telegram.waitUntil(() => telegram.sent().length > 0);
  expect(texts(telegram)).toEqual([expect.stringContaining("took longer than 1 s")]);
  telegram.text("next question");
  await telegram.waitUntil(() => telegram.sent().length > 1);
  expect(texts(telegram).slice(1)).toEqual(["well again"]);
});

it.each<[string, Answer, (string | undefined)[]]>([
  ["NO_REPLY", say("NO", "_RE", "PLY"), []],
  ["HEARTBEAT_OK", say("HEART", "BEAT_OK"), []],
  ["thinking split over pieces", say("<th", "ink>secret plan", " more</thi", "nk>\n\nHel", "lo"), ["Hello"]],
  ["thinking that never ends", say("Hi. ", "<think>secret", " plan"), ["Hi."]],
  ["a reply tag", say("[[reply", "_to_current]] ", "Hello"), ["Hello"]],
  ["a reply tag with an id", say("[[reply_to: 1", "]] Hello"), ["Hello"]],
])("%s does not show in the chat, whichever way it streams", async (_name, answer, expected) => {
  for (const channel of [{}, { streamMode: "partial" }, { blockStreaming: true }]) {
    await using telegram = await startFakeTelegram();
    await using provider = await brokenProvider(answer);
    await using _g = await start(telegram, provider, {}, channel);
    telegram.text("question");
    await telegram.waitUntil(() => provider.bodies.length === 1);
    await telegram.waitUntil(() => telegram.sent().length >= expected.length);
    telegram.text("next question");
    await telegram.waitUntil(() => texts(telegram).at(-1) === "well again" || texts(telegram).length > expected.length);
    expect([channel, texts(telegram)]).toEqual([channel, [...expected, "well again"]]);
    expect(JSON.stringify(telegram.calls.map((made) => made.params))).not.toMatch(/secret plan|HEARTBEAT|NO_REPLY|reply_to_current|\[\[/);
  }
});

it("a MEDIA line to a file outside the workspace sends no file and says why", async () => {
  await using telegram = await startFakeTelegram();
  await using provider = await brokenProvider(say("Here it is.\nMEDIA:/etc/hostname"), say("MEDIA:../openclaw.json"), say("MEDIA:file:///etc/hostname"));
  await using _g = await start(telegram, provider);
  for (const text of ["one", "two", "three"]) {
    const before = telegram.sent().length;
    telegram.text(text);
    await telegram.waitUntil(() => telegram.sent().length > before);
  }
  expect(telegram.calls.flatMap((made) => Object.keys(made.files))).toEqual([]);
  expect(texts(telegram).join("\n")).toContain("Here it is.");
  expect(telegram.calls.filter((made) => made.method !== "getUpdates" && /host_|botToken/.test(JSON.stringify(made.params)))).toEqual([]);
});

it.each([{}, { blockStreaming: true }, { streamMode: "partial" }])("twenty thousand characters with code arrive whole in messages that Telegram takes (%j)", async (channel) => {
  await using telegram = await startFakeTelegram();
  const code = Array.from({ length: 300 }, (_, index) => `  const value${index} = a < b && "c"; // **not bold** ${index}`).join("\n");
  const prose = Array.from({ length: 60 }, (_, index) => `Paragraph ${index} with **bold** and <b>tags</b> & more.`).join("\n\n");
  const answer = `${prose}\n\n\`\`\`ts\n${code}\n\`\`\`\n\n${prose}\n\nTHE END`;
  await using provider = await brokenProvider(say(...(answer.match(/[\s\S]{1,997}/g) ?? [])));
  await using _g = await start(telegram, provider, {}, channel);
  telegram.text("essay");
  await telegram.waitUntil(() => texts(telegram).some((text) => text?.endsWith("THE END")));
  const all = texts(telegram).join("\n");
  for (let index = 0; index < 300; index++) expect(all).toContain(`const value${index} = a < b`);
  expect(all.match(/Paragraph 59 /g)).toHaveLength(2);
  for (const text of texts(telegram)) expect(text?.length).toBeLessThanOrEqual(4096);
  const rejected = telegram.calls.filter((made) => made.method === "sendMessage").length;
  expect(rejected).toBeLessThanOrEqual(telegram.sent().length + 1);
});
