import type { output, ZodMiniType } from "zod/mini";
import { ResponseError } from "../errors/response_error.ts";
import type { Answer } from "./transport.ts";

/**
 * Checks an answer against the documented form.
 *
 * @throws {ResponseError} `wrong_shape`, naming the fields that are wrong.
 */
export function promised<Schema extends ZodMiniType>(
  schema: Schema,
  answer: Answer,
  action: string,
): output<Schema> {
  const read = schema.safeParse(answer.body);
  if (read.success) return read.data;
  const wrong = read.error.issues.slice(0, 5).map(({ path }) =>
    path.length === 0 ? "the body" : path.map(String).join(".")
  );
  throw new ResponseError(
    `${action}: the answer is not of the promised shape at ${
      wrong.join(", ")
    }; the service may have changed`,
    {
      code: "wrong_shape",
      status: answer.status,
      field: wrong[0] ?? null,
      requestId: answer.requestId,
    },
  );
}
