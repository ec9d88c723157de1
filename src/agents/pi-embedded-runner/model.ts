import type { Api, Model } from "@mariozechner/pi-ai";
import type { AuthStorage, ModelRegistry } from "@mariozechner/pi-coding-agent";
import type { PiModules } from "../pi.ts";

/**
 * Pi asks its registry whether a model may be used. Keys are resolved by our own model service and given to each
 * request, so the registry only has to know that there is one.
 */
export function createRunRegistry(pi: PiModules, model: Model<Api>): { authStorage: AuthStorage; modelRegistry: ModelRegistry } {
  const authStorage = pi.codingAgent.AuthStorage.inMemory();
  authStorage.setRuntimeApiKey(model.provider, "resolved-per-request");
  return { authStorage, modelRegistry: pi.codingAgent.ModelRegistry.inMemory(authStorage) };
}
