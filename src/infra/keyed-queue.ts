/** Runs the tasks of one key one after another. */
export type KeyedQueue = <T>(key: string, task: () => Promise<T>) => Promise<T>;

/** Tasks of one key start in the order of their calls, each when the one before has ended, well or not; other keys do not wait. */
export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<void>>();
  return (key, task) => {
    const run = (tails.get(key) ?? Promise.resolve()).then(task);
    const tail = run.then(
      () => undefined,
      () => undefined, // the caller of `run` sees the failure; the next in line only waits
    );
    tails.set(key, tail);
    void tail.then(() => {
      if (tails.get(key) === tail) tails.delete(key);
    });
    return run;
  };
}
