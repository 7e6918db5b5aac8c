import {
  type AnswerBounds,
  boundedAnswers,
  TOO_MANY,
} from "../http/bounded_answers.ts";
import { ApiProblem, problemResponse } from "./problem.ts";

/**
 * The API within the bounds of {@linkcode boundedAnswers}: a request that may
 * not wait gets a problem document, as for every other error.
 *
 * @param app Answers requests.
 * @param bounds How much it may do at a time.
 */
export function boundedApi(
  app: (request: Request) => Promise<Response>,
  bounds: AnswerBounds = {},
): ReturnType<typeof boundedAnswers> {
  return boundedAnswers((request) => app(request), {
    ...bounds,
    refusal: () =>
      problemResponse(new ApiProblem("too_many_requests", TOO_MANY.detail)),
  });
}
