import { isServiceFailure, type ServiceFailure } from "../service_failure.ts";
import type { Steps } from "../walk/steps.ts";

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
