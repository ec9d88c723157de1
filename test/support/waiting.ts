/** ms; a busy machine is slow, and nothing that comes is waited for longer than it takes. */
const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 10;

type Seen<T> = Exclude<T, undefined | null | false>;

export interface Waiting {
  /** Something changed: everyone looks again. */
  changed(): void;
  /** The first value of `look` that is one. @throws Error with `what` and the story so far */
  until<T>(look: () => T, what?: string, patienceMs?: number): Promise<Seen<T>>;
}

/** Waits for what a test looks for: at every change, and now and then, for the account under test tells nobody of its own. */
export function createWaiting(story: () => string): Waiting {
  const lookers = new Set<() => void>();
  return {
    changed() {
      for (const look of [...lookers]) look();
    },
    until: (look, what = "sign of it", patienceMs = PATIENCE_MS) =>
      new Promise((resolve, reject) => {
        const finish = (): void => {
          lookers.delete(check);
          clearInterval(ticker);
          clearTimeout(timer);
        };
        const check = (): void => {
          try {
            const value = look();
            if (value === undefined || value === null || value === false) return;
            finish();
            resolve(value as Seen<typeof value>);
          } catch (err) {
            finish();
            reject(err as Error);
          }
        };
        const ticker = setInterval(check, LOOK_EVERY_MS);
        const timer = setTimeout(() => {
          finish();
          reject(new Error(`no ${what} within ${patienceMs} ms; so far: ${story().slice(0, 1500)}`));
        }, patienceMs);
        lookers.add(check);
        check();
      }),
  };
}
