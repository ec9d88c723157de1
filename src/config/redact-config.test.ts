import fc from "fast-check";
import { expect, it } from "vitest";
import { createTestHome } from "../../test/support/config-home.ts";
import {
  isSecretPath,
  REDACTED,
  redactConfigText,
  redactConfigValue,
  redactSnapshot,
  restoreRedactedText,
} from "./redact-config.ts";

it.each([
  ["gateway.auth.token", true],
  ["channels.telegram.botToken", true],
  ["channels.feishu.appSecret", true],
  ["channels.qqbot.accounts.x.clientSecret", true],
  ["env.vars.OPENAI_API_KEY", true],
  ["env.MY_PRIVATE", true],
  ["models.providers.p.headers.Authorization", true],
  ["mcp.servers.s.env.X_TOKEN", true],
  ["plugins.entries.x.config.apiKey", true],
  ["agents.defaults.contextTokens", false],
  ["gateway.auth.passwordFile", false],
  ["models.providers.p.models", false],
  ["session.mainKey", false],
  ["models.providers.p.baseUrl", false],
])("%s is a secret: %s", (path, secret) => {
  expect(isSecretPath(path.split("."))).toBe(secret);
});

it("hides a short secret without touching the same word elsewhere", () => {
  const text = `{ models: { providers: { mock: { baseUrl: "http://mock/", apiKey: 'mock', models: [] } } }, agents: { defaults: { model: "mock/mock" } } } // mock`;
  const value = {
    models: { providers: { mock: { baseUrl: "http://mock/", apiKey: "mock", models: [] } } },
    agents: { defaults: { model: "mock/mock" } },
  };
  const hidden = redactConfigText(text, value);
  expect(hidden).toBe(text.replace("'mock'", `"${REDACTED}"`));
  expect(restoreRedactedText(hidden, redactConfigValue(value), value)).toBe(text.replace("'mock'", '"mock"'));
});

it("shows references and hides what they stand for, also inside other values", async () => {
  await using home = await createTestHome(
    '{ gateway: { auth: { token: "${TOK}" } }, models: { providers: { p: { baseUrl: "https://h/?k=${MY_API_KEY}", models: [] }, q: { baseUrl: "https://u:canary3@h/", models: [] } } }, channels: { googlechat: { serviceAccount: { private_key: "canary4", x: "canary5" } } } }',
    { TOK: "canary1", MY_API_KEY: "canary2" },
  );
  const shown = redactSnapshot(await home.load());
  expect(shown.valid).toBe(true);
  expect(JSON.stringify(shown)).not.toContain("canary");
  expect(shown.parsed).toMatchObject({ gateway: { auth: { token: "${TOK}" } } });
  expect(shown.raw).toContain('"${TOK}"');
});

it("shows nothing but issues of an invalid configuration", async () => {
  await using home = await createTestHome('{ gateway: { auth: { token: "canary", mode: "canary2" } } }');
  const shown = redactSnapshot(await home.load());
  expect(shown).toMatchObject({ valid: false, raw: null, parsed: null, resolved: {}, config: {} });
  expect(JSON.stringify(shown)).not.toContain("canary");
});

it("what is read and written back unchanged changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ minLength: 1, maxLength: 12 }).filter((s) => !s.includes("${")),
      fc.boolean(),
      async (secret, asForm) => {
        const config = {
          gateway: { auth: { token: secret } },
          channels: { telegram: { token: secret } },
          agents: { list: [{ id: "a", name: secret }] },
        };
        await using home = await createTestHome(`// mine\n${JSON.stringify(config, null, 2)}\n`);
        const shown = redactSnapshot(await home.load());
        const raw = asForm ? JSON.stringify(shown.config) : (shown.raw ?? "");
        const { files } = await home.writer().setRaw(raw, { baseHash: shown.hash });
        expect(files).toEqual([]);
      },
    ),
    { numRuns: 30 },
  );
});
