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
 */
export function requireExactJson(task: string): void {
  if (typeof (JSON as RawJson).rawJSON === "function") return;
  throw new TypeError(
    `Cannot ${task}: this runtime has no exact JSON numbers (JSON.rawJSON), ` +
      "and amounts must not pass through floats; use Deno, Bun, or Node 22.22.3 " +
      "or later",
  );
}

/** A decimal that `JSON.stringify` writes as a bare JSON number. */
export class ExactNumber {
  /** The number as it will be written. */
  readonly text: string;

  /** Takes a number in JSON form. */
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
 * Parses JSON; each number becomes an {@linkcode ExactNumber} of its digits, so
 * that a number and a text of the same digits can be told apart.
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
