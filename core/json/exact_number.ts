import { isJsonNumber } from "./exact_json.ts";

/** The part of `JSON` that TypeScript's library does not declare yet. */
interface RawJson {
  rawJSON?: (text: string) => unknown;
  parse(
    text: string,
    reviver: (
      key: string,
      value: unknown,
      context: { readonly source?: string },
    ) => unknown,
  ): unknown;
}

/**
 * Refuses a runtime on which this package cannot work, before something fails
 * there with an obscure error.
 *
 * @param task What was to be done, for the message.
 * @throws {TypeError} When the runtime has no exact JSON numbers (Node 20).
 *
 * @example Check before anything else
 * ```ts
 * requireExactJson("open the ledger");
 * ```
 */
export function requireExactJson(task: string): void {
  if (typeof (JSON as RawJson).rawJSON === "function") return;
  throw new TypeError(
    `Cannot ${task}: this runtime has no exact JSON numbers (JSON.rawJSON), ` +
      "and amounts must not pass through floats; use Deno, Bun, or Node 22.22.3 " +
      "or later",
  );
}

/**
 * A decimal that {@linkcode stringifyExact} writes as a bare JSON number.
 *
 * @example Send an exact number
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const body = { currency_amount: new ExactNumber("100.10") };
 * assert.equal(stringifyExact(body), '{"currency_amount":100.10}');
 * ```
 */
export class ExactNumber {
  /** The number as it will be written. */
  readonly text: string;

  /**
   * Takes a number in JSON form.
   *
   * @throws {TypeError} When `text` is not a JSON number.
   */
  constructor(text: string) {
    if (!isJsonNumber(text)) {
      throw new TypeError(
        `Cannot write an exact number: ${JSON.stringify(text)} is not a JSON ` +
          `number; use digits with an optional point, such as "100.5"`,
      );
    }
    this.text = text;
  }

  /** Hands `JSON.stringify` the bare number. */
  toJSON(): unknown {
    requireExactJson("write an exact number");
    return (JSON as RawJson).rawJSON?.(this.text);
  }
}

/**
 * Writes JSON in which each {@linkcode ExactNumber} is a bare number with
 * exactly its digits.
 *
 * @param value What to write.
 * @returns JSON text.
 * @throws {TypeError} When the value cannot be written as JSON, or the runtime
 * has no `JSON.rawJSON`.
 *
 * @example Send an exact number
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const amount = new ExactNumber("0.100000000000000001");
 * assert.equal(stringifyExact([amount]), "[0.100000000000000001]");
 * ```
 */
export function stringifyExact(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) {
    throw new TypeError(
      `Cannot write JSON: a ${typeof value} has no JSON form; pass an object`,
    );
  }
  return text;
}

/**
 * Parses JSON; each number becomes an {@linkcode ExactNumber} of its digits, so
 * that a number and a text of the same digits can be told apart.
 *
 * @param text A JSON text.
 * @returns The value.
 * @throws {SyntaxError} When `text` is not JSON.
 *
 * @example Tell a number from a text
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(parseWithExactNumbers('["1.50", 1.50]'), [
 *   "1.50",
 *   new ExactNumber("1.50"),
 * ]);
 * ```
 */
export function parseWithExactNumbers(text: string): unknown {
  return (JSON as RawJson).parse(
    text,
    (_key, value, { source }) =>
      typeof value === "number"
        ? new ExactNumber(source ?? String(value))
        : value,
  );
}
