/**
 * Node announces `node:sqlite` as experimental on every start, and deprecations inside of bundled libraries (grammY's
 * node-fetch); a person can do nothing about either. Other warnings stay.
 */
export function quietLibraryWarnings(): void {
  const emit = process.emitWarning.bind(process) as (...args: readonly unknown[]) => void;
  const filtered = (...args: readonly unknown[]): void => {
    const [, detail] = args;
    const type = typeof detail === "string" ? detail : typeof detail === "object" && detail !== null && "type" in detail ? detail.type : undefined;
    if (type !== "ExperimentalWarning" && type !== "DeprecationWarning") emit(...args);
  };
  process.emitWarning = filtered as typeof process.emitWarning;
}
