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
