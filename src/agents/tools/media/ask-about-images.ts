import type { ImageContent } from "@mariozechner/pi-ai";
import { createImageWorker, toModelImage } from "../../../media/index.ts";
import type { PreparedModel } from "../../models/types.ts";
import { requestOptions } from "../../pi-embedded-runner/pi-session.ts";
import type { PiModules } from "../../pi.ts";

const MAX_OUTPUT_TOKENS = 4096;

/** @throws Error saying why it is no picture */
export async function toImageContent(bytes: Buffer, maxSidePx: number): Promise<ImageContent> {
  const result = await toModelImage(createImageWorker(), bytes, maxSidePx);
  if (result.kind !== "image") throw new Error(result.reason);
  return { type: "image", data: result.base64, mimeType: result.mimeType };
}

/** One question to a model that can see. @throws Error with the provider's complaint, or when it says nothing */
export async function askAboutImages(ai: PiModules["ai"], prepared: PreparedModel, prompt: string, images: readonly ImageContent[], signal: AbortSignal): Promise<string> {
  const stream = prepared.stream ?? ai.streamSimple;
  const context = { messages: [{ role: "user" as const, content: [{ type: "text" as const, text: prompt }, ...images], timestamp: 0 }] };
  const message = await stream(prepared.model, context, { ...requestOptions(prepared), signal, maxTokens: Math.min(MAX_OUTPUT_TOKENS, prepared.model.maxTokens) }).result();
  if (message.stopReason === "error" || message.stopReason === "aborted") throw new Error(message.errorMessage ?? "the call failed");
  const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n").trim();
  if (text === "") throw new Error("an empty answer");
  return text;
}
