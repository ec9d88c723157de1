/** Proves at compile time that every case of a union was handled. @throws Error when reached at run time */
export function assertNever(value: never): never {
  throw new Error(`Unhandled case: ${JSON.stringify(value)}`);
}
