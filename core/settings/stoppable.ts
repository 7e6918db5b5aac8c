import { CommandError } from "./errors.ts";

/**
 * Does work that Ctrl-C may stop, and then says what was done and what was not.
 */
export async function stoppable<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  said: () => string | Promise<string>,
): Promise<T> {
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    if (!isStop(error, signal)) throw error;
    throw new CommandError(`Stopped: ${await said()}`, "stopped");
  }
}

/** Whether this was thrown because the signal was aborted. */
export function isStop(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted &&
    (error === signal.reason ||
      (error instanceof Error && error.name === "AbortError"));
}

/** The same values until the signal is aborted; then it throws the reason. */
export async function* untilStopped<T>(
  values: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  for await (const value of values) {
    signal.throwIfAborted();
    yield value;
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true })
  );
}
