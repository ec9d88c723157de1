import { InvalidArgumentError } from "commander";

/** Parser of a whole number for an option. @throws InvalidArgumentError, which commander shows with the option's name */
export function wholeNumber(min: number, max: number, unit = ""): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value.trim()) || number < min || number > max) {
      throw new InvalidArgumentError(`It must be a whole number${unit ? ` of ${unit}` : ""} from ${min} to ${max}.`);
    }
    return number;
  };
}

export const portNumber = wholeNumber(1, 65_535);
export const timeoutMs = wholeNumber(1, 24 * 60 * 60_000, "milliseconds");

/** One of a fixed list. @throws InvalidArgumentError naming the choices */
export function oneOf(...choices: readonly string[]): (value: string) => string {
  return (value) => {
    if (choices.includes(value)) return value;
    throw new InvalidArgumentError(`It must be one of: ${choices.join(", ")}.`);
  };
}
