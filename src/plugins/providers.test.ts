import { expect, it } from "vitest";
import type { AuthProfile } from "../agents/index.ts";
import { listProviders, oauthOf } from "./providers.ts";
import { currentPlugin } from "./scope.ts";

type OAuthProfile = Extract<AuthProfile, { type: "oauth" }>;

const EXPIRED: OAuthProfile = { type: "oauth", provider: "moon", access: "old", refresh: "r1", expires: 5 };

const registry = (provider: object) => ({ providers: [{ pluginId: "moonlight", provider: { id: "moon", aliases: ["Luna"], ...provider } }] });

it("tokens of a plugin's provider are renewed and made into a key by the plugin, under its name", async () => {
  const asked: unknown[] = [];
  const given = registry({
    refreshOAuth: async (profile: OAuthProfile) => {
      asked.push(currentPlugin(), profile);
      return { access: "new", refresh: "r2", expires: 9 };
    },
    formatApiKey: (profile: OAuthProfile) => `moon:${profile.access}`,
  });
  const oauth = oauthOf(given, "luna");
  expect(await oauth?.refresh?.(EXPIRED)).toEqual({ access: "new", refresh: "r2", expires: 9 });
  expect(asked).toEqual(["moonlight", EXPIRED]);
  expect(oauth?.formatKey?.(EXPIRED)).toBe("moon:old");
  expect(oauthOf(given, "sun")).toBeUndefined();
});

it("a provider that renews nothing leaves that to the gateway, and one that answers nonsense is named", async () => {
  expect(oauthOf(registry({ auth: [] }), "moon")).toBeUndefined();
  await expect(oauthOf(registry({ refreshOAuth: () => ({ token: "x" }) }), "moon")?.refresh?.(EXPIRED)).rejects.toThrow("moon answered the renewal without an access token.");
});

it("a login method without an id or a function is passed over, and a profile without a provider is the provider's", async () => {
  const [provider] = listProviders(registry({ auth: [null, { id: "x" }, { run: () => undefined }, { id: "key", run: () => ({ profiles: [{ credential: { type: "token", token: "t" } }], notes: ["", "look"] }) }] }));
  expect(provider).toMatchObject({ id: "moon", label: "moon", aliases: ["Luna"], methods: [{ id: "key", label: "key" }] });
  expect(await provider?.methods[0]?.run({})).toEqual({ profiles: [{ profileId: "moon:default", profile: { type: "token", provider: "moon", token: "t" } }], configPatch: undefined, defaultModel: undefined, notes: ["look"] });
});
