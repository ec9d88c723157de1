/** Work that was told to stop and did not. */
export class OverdueError extends Error {
  override readonly name = "OverdueError";
}

/**
 * The outcome of `work`. Once `signal` has fired it has `graceMs` left; then what it still does is not waited for.
 * @throws OverdueError with `problem` as its text
 */
export async function endsSoonAfter<T>(signal: AbortSignal, work: Promise<T>, graceMs: number, problem: string): Promise<T> {
  const overdue = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const arm = (): void => {
    timer = setTimeout(() => overdue.reject(new OverdueError(problem)), graceMs);
  };
  if (signal.aborted) arm();
  else signal.addEventListener("abort", arm, { once: true });
  work.catch(() => undefined); // its failure is the caller's while it is waited for, and nobody's afterwards
  try {
    return await Promise.race([work, overdue.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", arm);
  }
}
