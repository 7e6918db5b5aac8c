/**
 * What was found where another kind of value was promised:
 *
 * - `missing`, `null`, `empty`: nothing, where a value must be;
 * - `boolean`, `array`, `object`: a JSON value of that kind;
 * - `text`: a text where a decimal or a boolean was promised;
 * - `nul`: a text with the character NUL in it;
 * - `too_long`: an identifier of more than 256 bytes in UTF-8;
 * - `too_deep`: arrays or objects nested beyond a hundred levels.
 *
 * A number is read as its digits, so it is never odd where a text is promised.
 */
export type OddValue =
  | "missing"
  | "null"
  | "empty"
  | "boolean"
  | "array"
  | "object"
  | "text"
  | "nul"
  | "too_long"
  | "too_deep";

/** A field that could not be read and was left out. */
export interface OddField {
  /** Path of the field by the service's names, such as `limits.crypto_spending`. */
  readonly field: string;
  /** What stood there. */
  readonly value: OddValue;
}

/** An {@linkcode OddField}, and the item it belongs to. */
export interface OddFieldOf extends OddField {
  /** Identifier of the order or user. */
  readonly id: string;
}
