import { messageOf } from "../../core/guards.ts";
import { matcher, type Pattern } from "../../ledger/for_server.ts";
import { UsageError } from "../../settings/errors.ts";
import type { Param, Params, ValuesOf } from "../../settings/params.ts";
import type { Transition } from "../../ledger/mod.ts";

/**
 * Reads the parameters of a request. An unknown one is refused: a mistyped
 * filter would look like an answer.
 *
 * @throws {UsageError} When one is unknown, wrong, repeated or missing.
 */
export function readParams<P extends Params>(
  params: P,
  query: URLSearchParams,
): ValuesOf<P> {
  const values: Record<string, unknown> = {};
  for (const [name, text] of query) {
    const param = Object.hasOwn(params, name) ? params[name] : undefined;
    if (param === undefined) {
      const names = Object.keys(params);
      throw new UsageError(
        `Unknown parameter "${name}": ` +
          (names.length === 0
            ? "this takes none"
            : `this takes ${names.join(", ")}`),
      );
    }
    if (Object.hasOwn(values, name)) {
      throw new UsageError(`Wrong ${name}: it is given twice`);
    }
    values[name] = param.read(name, text);
  }
  for (const [name, { required }] of Object.entries(params)) {
    if (required && !Object.hasOwn(values, name)) {
      throw new UsageError(`Missing ${name}: ${params[name]?.description}`);
    }
  }
  return values as ValuesOf<P>;
}

/** Patterns of transitions, as subscriptions have them. */
export function patternsParam(
  description: string,
): Param<(transition: Transition) => boolean> {
  return {
    description,
    schema: { type: "string", minLength: 1 },
    read: (name, text) => {
      try {
        return matcher(text.split(",").map((one) => one.trim()) as Pattern[]);
      } catch (error) {
        // What a program may pass beside patterns cannot be said here.
        const [what = ""] = messageOf(error).split("; a status");
        throw new UsageError(
          `Wrong ${name}: ${what.replace("Wrong pattern: ", "")}`,
        );
      }
    },
  };
}
