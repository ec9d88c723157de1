import { LLMock } from "@copilotkit/aimock";

/** A model provider on loopback. */
export interface MockModel extends AsyncDisposable {
  readonly mock: LLMock;
  /** `models.providers` and default model for a config. */
  readonly config: Record<string, unknown>;
}

export async function startMockModel(setup: (mock: LLMock) => void, api: "openai-completions" | "anthropic-messages" | "openai-responses" = "openai-completions"): Promise<MockModel> {
  const mock = new LLMock({ port: 0 });
  setup(mock);
  await mock.start();
  return {
    mock,
    config: {
      models: {
        providers: {
          mock: {
            baseUrl: api === "anthropic-messages" ? mock.url : `${mock.url}/v1`, apiKey: "mock-key", api,
            models: [{ id: "gpt-mock", name: "Mock", contextWindow: 128_000, maxTokens: 8192, input: ["text", "image"] }],
          },
        },
      },
    },
    async [Symbol.asyncDispose]() {
      await mock.stop();
    },
  };
}
