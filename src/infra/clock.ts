/** Time as an argument, so that tests can hold it. All values are ms since the Unix epoch. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
