import { basename } from "node:path";
import type { MediaCandidate } from "./types.ts";

export interface TranscribeInput {
  readonly candidate: MediaCandidate;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mimeType: string;
  readonly fileName: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** Addresses of the services; a candidate may name another. Source: platforms' API references. */
const BASE: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1", groq: "https://api.groq.com/openai/v1", mistral: "https://api.mistral.ai/v1", deepgram: "https://api.deepgram.com/v1", google: "https://generativelanguage.googleapis.com/v1beta",
};

/** What is said in a recording. @throws Error with the service's answer */
export async function transcribe(input: TranscribeInput): Promise<string> {
  const { provider } = input.candidate;
  switch (provider) {
    case "deepgram":
      return deepgram(input);
    case "google":
      return google(input);
    default:
      return openAiLike(input);
  }
}

const baseOf = ({ baseUrl, provider }: MediaCandidate): string => (baseUrl ?? BASE[provider] ?? "").replace(/\/$/, "");

async function openAiLike({ candidate, bytes, mimeType, fileName, apiKey, fetch: fetchFn, signal }: TranscribeInput): Promise<string> {
  const base = baseOf(candidate);
  if (base === "") throw new Error(`${candidate.provider} needs a baseUrl to transcribe with`);
  const form = new FormData();
  form.set("file", new Blob([bytes], { type: mimeType }), basename(fileName));
  form.set("model", candidate.model);
  if (candidate.language !== undefined) form.set("language", candidate.language);
  form.set("response_format", "json");
  for (const [name, value] of Object.entries(candidate.query)) form.set(name, String(value));
  const answer = await readJson(await fetchFn(`${base}/audio/transcriptions`, { method: "POST", headers: { authorization: `Bearer ${apiKey}`, ...candidate.headers }, body: form, signal }));
  return textOf(answer["text"]);
}

async function deepgram({ candidate, bytes, mimeType, apiKey, fetch: fetchFn, signal }: TranscribeInput): Promise<string> {
  const query = new URLSearchParams({ model: candidate.model, ...(candidate.language === undefined ? {} : { language: candidate.language }) });
  for (const [name, value] of Object.entries(candidate.query)) query.set(name, String(value));
  const answer = await readJson(await fetchFn(`${baseOf(candidate)}/listen?${query.toString()}`, { method: "POST", headers: { authorization: `Token ${apiKey}`, "content-type": mimeType, ...candidate.headers }, body: bytes, signal }));
  const { results } = answer as { results?: { channels?: { alternatives?: { transcript?: unknown }[] }[] } };
  return textOf(results?.channels?.[0]?.alternatives?.[0]?.transcript);
}

async function google({ candidate, bytes, mimeType, apiKey, fetch: fetchFn, signal }: TranscribeInput): Promise<string> {
  const parts = [{ text: candidate.prompt }, { inline_data: { mime_type: mimeType, data: Buffer.from(bytes).toString("base64") } }];
  const answer = await readJson(await fetchFn(`${baseOf(candidate)}/models/${encodeURIComponent(candidate.model)}:generateContent`, {
    method: "POST", headers: { "x-goog-api-key": apiKey, "content-type": "application/json", ...candidate.headers }, body: JSON.stringify({ contents: [{ role: "user", parts }] }), signal,
  }));
  const { candidates } = answer as { candidates?: { content?: { parts?: { text?: unknown }[] } }[] };
  return textOf(candidates?.[0]?.content?.parts?.map(({ text }) => (typeof text === "string" ? text : "")).join(""));
}

async function readJson(response: Response): Promise<Record<string, unknown>> {
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${(await response.text()).slice(0, 300)}`);
  const value: unknown = await response.json();
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  const text = typeof value === "string" ? value.trim() : "";
  if (text === "") throw new Error("the answer holds no text");
  return text;
}
