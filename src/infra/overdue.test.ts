import { expect, it } from "vitest";
import { endsSoonAfter, OverdueError } from "./overdue.ts";

const never = new Promise<never>(() => undefined);

it("gives the outcome of work that ends, stopped or not", async () => {
  const stop = new AbortController();
  expect(await endsSoonAfter(stop.signal, Promise.resolve("done"), 1000, "late")).toBe("done");
  stop.abort();
  expect(await endsSoonAfter(stop.signal, Promise.resolve("done"), 1000, "late")).toBe("done");
  await expect(endsSoonAfter(stop.signal, Promise.reject(new Error("own failure")), 1000, "late")).rejects.toThrow("own failure");
});

it("does not wait for work that goes on after it was told to stop, before or while it runs", async () => {
  await expect(endsSoonAfter(AbortSignal.abort(), never, 5, "it hangs")).rejects.toThrow(new OverdueError("it hangs"));
  const stop = new AbortController();
  const waiting = endsSoonAfter(stop.signal, never, 5, "it hangs");
  stop.abort();
  await expect(waiting).rejects.toThrow(OverdueError);
});
