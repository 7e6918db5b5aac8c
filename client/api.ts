import type { output, ZodMiniType } from "zod/mini";
import type { Environment } from "../core/assets/environment.ts";
import { ResponseError } from "./errors.ts";
import type { Answer, Call } from "./transport.ts";

/** What the parts of a client ask for; the caller adds key, rate and retries. */
export type Ask =
  & Pick<Call, "operation" | "action" | "url" | "body" | "signal">
  & {
    /** Whether sending it twice does no harm. @default {true} */
    readonly repeatable?: boolean;
    /** A text that must not appear anywhere, beside the API key. */
    readonly secret?: string;
  };

/** What the parts of a client share. */
export interface Api {
  readonly environment: Environment;
  readonly allowUnlistedAssets: boolean;
  /** Clock, milliseconds since 1970. */
  readonly now: () => number;
  readonly ask: (ask: Ask) => Promise<Answer>;
}

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
  throw wrongShape(
    answer,
    action,
    read.error.issues.slice(0, 5).map(({ path }) =>
      path.length === 0 ? "the body" : path.map(String).join(".")
    ),
  );
}

/** The service answered something else than it promises. */
export function wrongShape(
  { status, requestId }: Answer,
  action: string,
  wrong: readonly string[],
): ResponseError {
  return new ResponseError(
    `${action}: the answer is not of the promised shape at ${
      wrong.join(", ")
    }; the service may have changed`,
    { code: "wrong_shape", status, field: wrong[0] ?? null, requestId },
  );
}
