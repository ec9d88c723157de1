import {
  analyzeCommand, approvalsForAgent, effectiveModes, findObfuscation, judgeAllowlist, rebuildCommand, type Analysis, type AgentApprovals, type ApprovalsStore, type ExecAsk, type ExecSecurity, type SafeBinSettings, type Surroundings,
} from "../../exec-approvals/index.ts";
import type { HostChoice } from "./host.ts";

export interface GateInput {
  readonly choice: Exclude<HostChoice, { readonly kind: "refused" | "sandbox" }>;
  readonly command: string;
  /** Words before the command's text. */
  readonly shell: readonly string[];
  readonly place: Surroundings;
  readonly agentId: string;
  /** What about the call an allow-list cannot judge; see `ExecCall`. */
  readonly beyondList: string | undefined;
  readonly safeBins: SafeBinSettings;
  readonly store: ApprovalsStore;
  /** Elevated rights that were given without questions. */
  readonly isElevatedFull: boolean;
}

export type Gate =
  | { readonly kind: "run"; readonly argv: readonly string[] }
  | { readonly kind: "denied"; readonly text: string }
  | {
      readonly kind: "ask";
      readonly security: ExecSecurity;
      readonly ask: ExecAsk;
      readonly analysis: Analysis;
      /** Why it is asked about, for people. */
      readonly reason: string;
      readonly isObfuscated: boolean;
      /** What runs when nobody answers, if anything may. */
      readonly fallbackArgv: readonly string[] | undefined;
      readonly missReason: "allowlist-miss" | undefined;
    };

/** Rebuilt commands hold quoted words only, so the plainest shell runs them: no start-up file of another one can interfere. */
const PLAIN_SHELL: readonly string[] = ["/bin/sh", "-c"];

/** Whether a call runs, is asked about, or does not run. Source: spec tools-and-automation §3.4, §3.5. */
export async function judgeCall(input: GateInput): Promise<Gate> {
  const { choice, command, store, agentId } = input;
  const raw = [...input.shell, command];
  const file = choice.kind === "open" ? await explicitModes(store, agentId) : await store.forAgent(agentId);
  if (!file) return { kind: "run", argv: raw };
  const { security, ask } = effectiveModes(choice.kind === "open" ? { security: "full", ask: "off" } : choice, file);
  if (security === "deny") return { kind: "denied", text: "exec denied: host=gateway security=deny" };

  const analysis = analyze(input);
  const verdict = judgeAllowlist(analysis, { patterns: file.patterns, safeBins: input.safeBins }, input.place);
  const hidden = input.isElevatedFull ? [] : findObfuscation(command);
  const isHeredoc = analysis.kind === "unknown" && analysis.isHeredoc;
  const isMiss = security === "allowlist" && !verdict.satisfied;
  const mustAsk = ask === "always" || (ask === "on-miss" && isMiss) || (security === "allowlist" && isHeredoc) || hidden.length > 0;
  const allowed = verdict.satisfied && analysis.kind === "parts" ? [...PLAIN_SHELL, rebuildCommand(analysis.parts)] : undefined;
  if (!mustAsk) {
    if (isMiss) return { kind: "denied", text: `exec denied: allowlist miss (${verdict.reason ?? "no entry"})` };
    if (security === "allowlist") await store.recordUse(agentId, verdict.used, command);
    return { kind: "run", argv: security === "allowlist" ? (allowed ?? raw) : raw };
  }
  return {
    kind: "ask", security, ask, analysis, isObfuscated: hidden.length > 0,
    reason: hidden[0]?.says ?? verdict.reason ?? "every command is asked about",
    fallbackArgv: file.askFallback === "allowlist" && hidden.length === 0 ? allowed : undefined,
    missReason: verdict.satisfied ? undefined : "allowlist-miss",
  };
}

/** Without a chosen host the file counts where it names a mode for this agent, and is not made. */
async function explicitModes(store: ApprovalsStore, agentId: string): Promise<AgentApprovals | undefined> {
  const { exists, file } = await store.read();
  const own = exists ? approvalsForAgent(file, agentId) : undefined;
  return own?.security !== undefined || own?.ask !== undefined ? own : undefined;
}

/** Commands of other shells are not understood and so are asked about. */
export function analyze({ command, place, beyondList }: Pick<GateInput, "command" | "place" | "beyondList">): Analysis {
  if (place.platform === "win32") return { kind: "unknown", reason: "commands of Windows are not analysed", isHeredoc: false };
  const analysis = analyzeCommand(command, place);
  if (beyondList === undefined || analysis.kind === "unknown") return analysis;
  return { kind: "parts", parts: analysis.parts.map((part) => ({ ...part, refusal: part.refusal ?? beyondList })) };
}

