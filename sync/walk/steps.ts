import { isServiceFailure, type ServiceFailure } from "./poll_client.ts";

/**
 * Work on the service in steps: yields how many requests each step made, so
 * that the scheduler can charge them and give the next turn to another sweep.
 */
export type Steps<Result = void> = AsyncGenerator<number, Result>;

/**
 * Takes all steps at once, for callers without a scheduler.
 *
 * @param steps The work.
 * @param onRequests Receives the number of requests of each step.
 */
export async function runToEnd<Result>(
  steps: Steps<Result>,
  onRequests: (requests: number) => void = () => {},
): Promise<Result> {
  for (;;) {
    const step = await steps.next();
    if (step.done === true) return step.value;
    onRequests(step.value);
  }
}

/**
 * Takes the steps of several works one after the other, the later ones even
 * where the service failed an earlier one.
 *
 * @param works The works.
 * @throws {OnrampError} The first failure of the service, at the end.
 */
export async function* allSteps(works: readonly Steps[]): Steps {
  let failure: ServiceFailure | null = null;
  for (const work of works) {
    try {
      yield* work;
    } catch (error) {
      if (!isServiceFailure(error)) throw error;
      failure ??= error;
      // The failed request is charged like any other.
      yield 1;
    }
  }
  if (failure !== null) throw failure;
}
