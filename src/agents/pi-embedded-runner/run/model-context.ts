import { join } from "node:path";
import type { Agent, AgentMessage } from "@mariozechner/pi-agent-core";
import type { PreparedModel } from "../../models/types.ts";
import { pruneHistory, resolvePruning } from "../context-pruning.ts";
import type { RunnerDeps } from "../deps.ts";
import { prepareHistory } from "../history.ts";
import { isSessionSandboxed } from "../../sandbox/index.ts";
import { cacheTtlMs } from "../pi-session.ts";
import { shapeForProvider } from "../provider-shape.ts";
import { dropToolUse } from "../tool-pairing.ts";
import { guardToolResults } from "../tool-result-guard.ts";
import { resolveTranscriptPolicy } from "../transcript-policy.ts";
import { hydrateImages, type ImageHydrationOptions } from "./images.ts";
import type { RunEmbeddedPiAgentParams } from "./params.ts";

/**
 * What of the conversation each request holds: the transcript put in order, shortened, with its images, in the form of
 * the provider. Depends on the messages alone, so that a request begins with the bytes of the one before.
 */
export function prepareModelContext(agent: Agent, deps: RunnerDeps, params: RunEmbeddedPiAgentParams, prepared: PreparedModel): void {
  const { contextTokens, model } = prepared;
  const mediaDir = join(deps.stateDir, "media");
  const isSandboxed = isSessionSandboxed(deps.config(), params.agent.id, params.sessionKey);
  const images: ImageHydrationOptions = {
    store: deps.images,
    // What runs in a sandbox writes names of files into its output: none of them may be of the host.
    workspaceDir: isSandboxed ? mediaDir : params.agent.workspaceDir,
    allowedRoots: !isSandboxed && params.isOwner && (params.channel?.chatType ?? "direct") === "direct" ? "anywhere" : [mediaDir],
    maxSidePx: deps.config().agents?.defaults?.imageMaxDimensionPx ?? 1200,
    cacheTtlMs: cacheTtlMs(prepared),
    log: deps.log,
  };
  const pruning = resolvePruning(deps.config(), prepared.ref);
  const prune = (messages: AgentMessage[]): AgentMessage[] => (pruning ? pruneHistory(messages, pruning, contextTokens) : messages);
  const policy = resolveTranscriptPolicy(model);
  const { convertToLlm } = agent;
  agent.transformContext = async (messages) => {
    const spoken = prepareHistory(messages, params.historyLimit);
    const history = guardToolResults(prune(params.tools.length === 0 ? dropToolUse(spoken) : spoken), contextTokens);
    return model.input.includes("image") ? hydrateImages(history, images) : history;
  };
  agent.convertToLlm = async (messages) => shapeForProvider(await convertToLlm(messages), policy);
}
