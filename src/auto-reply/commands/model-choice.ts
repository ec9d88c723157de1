import { formatModelRef, type ModelRef, type ModelService } from "../../agents/index.ts";
import type { SessionPatch } from "../../sessions/index.ts";

const CLEAR = { providerOverride: null, modelOverride: null, authProfileOverride: null, authProfileOverrideSource: null } as const;
const MAX_NAMED = 8;

/**
 * What choosing a model writes into the session. `default` and the default itself remove the override; a profile behind
 * `@` is pinned; a part of one usable model's name is enough. @throws Error saying what to write instead
 */
export async function chooseModel(models: ModelService, agentId: string, text: string): Promise<{ readonly patch: SessionPatch; readonly ref: ModelRef | undefined }> {
  if (text.trim().toLowerCase() === "default") return { patch: CLEAR, ref: undefined };
  const { ref, profileId } = await resolveModel(models, agentId, text.trim());
  if (!(await models.isAllowed(ref, agentId))) throw new Error(`${formatModelRef(ref)} is not among agents.defaults.models.`);
  const standard = (await models.selectDefault(agentId)).ref;
  const isDefault = standard.provider === ref.provider && standard.modelId === ref.modelId;
  const override = isDefault ? {} : { providerOverride: ref.provider, modelOverride: ref.modelId };
  return { patch: { ...CLEAR, ...override, ...(profileId ? { authProfileOverride: profileId, authProfileOverrideSource: "user" as const } : {}) }, ref };
}

async function resolveModel(models: ModelService, agentId: string, text: string): Promise<{ ref: ModelRef; profileId?: string | undefined }> {
  const parsed = await models.parseRef(text, agentId);
  if (parsed.ok) return { ref: parsed.ref, profileId: parsed.profileId };
  const wanted = text.toLowerCase();
  const similar = (await models.list(agentId)).filter((row) => row.available && `${row.provider}/${row.id}`.toLowerCase().includes(wanted));
  const [only] = similar;
  if (only && similar.length === 1) return { ref: { provider: only.provider, modelId: only.id } };
  const names = similar.length > 1 ? similar.slice(0, MAX_NAMED).map((row) => `${row.provider}/${row.id}`) : parsed.suggestions;
  throw new Error(`${similar.length > 1 ? `"${text}" fits several models.` : `${parsed.error}.`.replace(/\.\.$/, ".")}${names.length > 0 ? ` Did you mean ${names.join(", ")}?` : ""}`);
}
