/**
 * Node announces `node:sqlite` as experimental on every start; a person can do nothing about it. Other warnings stay.
 */
export function quietExperimentalWarnings(): void {
  const emit = process.emitWarning.bind(process) as (...args: readonly unknown[]) => void;
  const filtered = (...args: readonly unknown[]): void => {
    const [, detail] = args;
    const type = typeof detail === "string" ? detail : typeof detail === "object" && detail !== null && "type" in detail ? detail.type : undefined;
    if (type !== "ExperimentalWarning") emit(...args);
  };
  process.emitWarning = filtered as typeof process.emitWarning;
}
