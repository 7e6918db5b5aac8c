import { UsageError } from "../../core/settings/errors.ts";
import type { Params, ValuesOf } from "../../core/settings/params.ts";

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
