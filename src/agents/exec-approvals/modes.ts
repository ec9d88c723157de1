export type ExecHost = "sandbox" | "gateway" | "node";
export type ExecSecurity = "deny" | "allowlist" | "full";
export type ExecAsk = "off" | "on-miss" | "always";
export type Decision = "allow-once" | "allow-always" | "deny";

const SECURITY: readonly ExecSecurity[] = ["deny", "allowlist", "full"];
const ASK: readonly ExecAsk[] = ["off", "on-miss", "always"];

export const stricterSecurity = (one: ExecSecurity, other: ExecSecurity | undefined): ExecSecurity =>
  other === undefined || SECURITY.indexOf(one) <= SECURITY.indexOf(other) ? one : other;

export const stricterAsk = (one: ExecAsk, other: ExecAsk | undefined): ExecAsk => (other === undefined || ASK.indexOf(one) >= ASK.indexOf(other) ? one : other);

export const asSecurity = (value: unknown): ExecSecurity | undefined => SECURITY.find((item) => item === value);
export const asAsk = (value: unknown): ExecAsk | undefined => ASK.find((item) => item === value);

/** The words by which people decide. Source: spec agent-pipeline-output §8, /approve. */
const DECISION_WORDS: Readonly<Record<string, Decision>> = {
  "allow-once": "allow-once", once: "allow-once", allow: "allow-once", approve: "allow-once", yes: "allow-once",
  "allow-always": "allow-always", always: "allow-always",
  deny: "deny", reject: "deny", block: "deny", no: "deny",
};

export const asDecision = (word: string): Decision | undefined => (Object.hasOwn(DECISION_WORDS, word.toLowerCase()) ? DECISION_WORDS[word.toLowerCase()] : undefined);
