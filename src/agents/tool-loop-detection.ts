import { createHash } from "node:crypto";
import type { AgentTool, ToolResult } from "./tools/contract.ts";

/** `tools.loopDetection`, the agent's values laid over the common ones. */
export interface LoopDetectionSettings {
  readonly enabled?: boolean | undefined;
  readonly historySize?: number | undefined;
  readonly warningThreshold?: number | undefined;
  readonly criticalThreshold?: number | undefined;
  readonly globalCircuitBreakerThreshold?: number | undefined;
  readonly detectors?: { readonly genericRepeat?: boolean | undefined; readonly knownPollNoProgress?: boolean | undefined; readonly pingPong?: boolean | undefined } | undefined;
}

export type LoopVerdict =
  | { readonly kind: "ok" }
  /** The call is made; the text goes to the model with its result. */
  | { readonly kind: "warn"; readonly text: string }
  /** The call is not made. `ends`: the model does not listen, so the run is over. */
  | { readonly kind: "block"; readonly text: string; readonly ends: boolean };

export interface LoopDetector {
  check(tool: string, args: Readonly<Record<string, unknown>>): LoopVerdict;
  record(tool: string, args: Readonly<Record<string, unknown>>, result: string): void;
}

/** Blocked calls after which the run ends. */
const PATIENCE = 3;
/** Whatever it does, a run that makes so many calls of one tool is over. */
const MAX_CALLS_OF_ONE_TOOL = 200;
/** What only tells how late it is: a result in which nothing else changes is the same. */
const CLOCKS = /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?|\b\d{1,2}:\d\d(?::\d\d)?\b|\b\d+ ?(?:ms|s|m|h|d|seconds?|minutes?|hours?) ago\b|"tookMs": ?\d+/g;
const OK: LoopVerdict = { kind: "ok" };

interface Call {
  readonly signature: string;
  readonly result: string;
}

/**
 * Sees when a model goes round in circles. The circuit breaker (the same call with the same result again and again) always
 * works; the finer detectors only when they are switched on. Source: spec tools-and-automation §1.7, pains #35.
 */
export function createLoopDetector(settings: LoopDetectionSettings): LoopDetector {
  const warnAt = Math.max(2, settings.warningThreshold ?? 10);
  const criticalAt = Math.max(warnAt + 1, settings.criticalThreshold ?? 20);
  const breakAt = Math.max(criticalAt + 1, settings.globalCircuitBreakerThreshold ?? 30);
  const historySize = Math.max(breakAt, settings.historySize ?? 30);
  const on = settings.enabled === true;
  const detectors = { genericRepeat: true, knownPollNoProgress: true, pingPong: true, ...settings.detectors };
  const history: Call[] = [];
  const counts = new Map<string, number>();
  let blocked = 0;

  const block = (text: string): LoopVerdict => ({ kind: "block", text: `CRITICAL: ${text}`, ends: ++blocked >= PATIENCE });

  /** How often the call stands at the end of the history with one and the same result, other calls between left out. */
  function repeatsWithoutProgress(signature: string): number {
    const own = history.filter((call) => call.signature === signature);
    const last = own.at(-1)?.result;
    const start = own.findLastIndex((call) => call.result !== last);
    return own.length - start - 1;
  }

  /** Length of the run of two alternating calls, each with unchanging results, that this call would prolong. */
  function pingPongLength(signature: string): number {
    const other = history.at(-1);
    if (!other || other.signature === signature) return 0;
    const pair = [signature, other.signature];
    let length = 0;
    for (let i = history.length - 1; i >= 0; i--) {
      const call = history[i] as Call;
      if (call.signature !== pair[(history.length - i) % 2]) break;
      const before = history[i + 2];
      if (before && before.result !== call.result) break;
      length++;
    }
    return length >= 3 ? length : 0;
  }

  return {
    check(tool, args) {
      const count = (counts.get(tool) ?? 0) + 1;
      counts.set(tool, count);
      if (count > MAX_CALLS_OF_ONE_TOOL) return block(`${tool} was called ${count - 1} times in this run. Stop and tell the person what is going on.`);
      const signature = signatureOf(tool, args);
      const same = repeatsWithoutProgress(signature);
      if (same >= breakAt) return block(`${tool} was called ${same} times with the same arguments and the same result. Do something else, or tell the person what is going on.`);
      if (!on) return OK;
      if (detectors.knownPollNoProgress && isPoll(tool, args)) {
        if (same >= criticalAt) return block(`${tool} was polled ${same} times and nothing changed. Stop polling, or wait much longer between looks.`);
        if (same >= warnAt) return { kind: "warn", text: `WARNING: ${tool} was polled ${same} times and nothing changed. Wait longer, or do something else.` };
      }
      const alternating = detectors.pingPong ? pingPongLength(signature) : 0;
      if (alternating >= criticalAt) return block(`two calls take turns (${alternating} of them, ${tool} the last) and nothing changes. Do something else.`);
      if (alternating >= warnAt) return { kind: "warn", text: `WARNING: two calls take turns (${alternating} of them) and nothing changes. Try another way.` };
      if (detectors.genericRepeat && !isPoll(tool, args)) {
        const repeats = history.filter((call) => call.signature === signature).length;
        if (repeats >= warnAt) return { kind: "warn", text: `WARNING: ${tool} was called ${repeats} times with the same arguments. If that does not help, try another way.` };
      }
      return OK;
    },
    record(tool, args, result) {
      history.push({ signature: signatureOf(tool, args), result: hash(result.replace(CLOCKS, "#")) });
      if (history.length > historySize) history.shift();
    },
  };
}

/** The tool behind the detector. `onEnd` is called once the model has been told often enough, with what happened. */
export function withLoopDetection(tool: AgentTool, detector: LoopDetector, onEnd: (text: string) => void): AgentTool {
  return {
    ...tool,
    async execute(args, ctx) {
      const verdict = detector.check(tool.name, args);
      if (verdict.kind === "block") {
        if (verdict.ends) onEnd(factOf(verdict.text));
        throw new Error(verdict.text);
      }
      try {
        const result = await tool.execute(args, ctx);
        detector.record(tool.name, args, textOf(result));
        return verdict.kind === "warn" ? { ...result, content: [...result.content, { type: "text", text: verdict.text }] } : result;
      } catch (err) {
        detector.record(tool.name, args, String(err));
        throw err;
      }
    },
  };
}

/** What is told to people: without the advice for the model that follows. */
const factOf = (text: string): string => `${text.replace(/^CRITICAL: /, "").split(". ", 1)[0]?.replace(/\.$/, "") ?? text}.`;

const textOf = (result: ToolResult): string => result.content.map((block) => (block.type === "text" ? block.text : `[image ${block.data.length}]`)).join("\n");

function isPoll(tool: string, args: Readonly<Record<string, unknown>>): boolean {
  return tool === "command_status" || (tool === "process" && (args["action"] === "poll" || args["action"] === "log"));
}

const signatureOf = (tool: string, args: Readonly<Record<string, unknown>>): string => hash(`${tool}\n${stable(args)}`);

const hash = (text: string): string => createHash("sha1").update(text).digest("base64");

function stable(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item) ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}
