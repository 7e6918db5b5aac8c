/** One page of orders or users, and where it came from. */
export interface Page<T> {
  /** The items that state a usable identifier, in the order of the answer. */
  readonly data: readonly T[];
  /**
   * Exact JSON text of each item, as received: `sources[i]` is the text of
   * `data[i]`. Cut out of the answer when first asked for.
   */
  readonly sources: readonly string[];
  /**
   * Fields that could not be read and are left out of `data`; `sources` still
   * has them. Empty on a page without oddities.
   */
  readonly oddFields: readonly OddFieldOf[];
  /**
   * Exact JSON text of each row that is left out because it states no usable
   * identifier. A walk that meets one is never complete.
   */
  readonly rowsWithoutId: readonly string[];
  /** Cursor of the next page; null when the service states none. */
  readonly nextCursorId: string | null;
  /**
   * How the service pages: `offset` when the answer has no cursor field, as
   * with users and in the earlier form of the orders endpoint.
   */
  readonly pagedBy: "cursor" | "offset";
  /**
   * How many items match, by the service's own count; null when it is missing
   * or is no count. A hint, never the proof that a walk was complete.
   */
  readonly total: number | null;
  /**
   * When this was true, UTC ISO 8601 with milliseconds: the `Date` header of
   * the answer, else our clock when asking.
   */
  readonly readAt: string;
  /** Request identifier the service stated; null when it did not. */
  readonly requestId: string | null;
  /**
   * What stood in the place of `data` on an empty page. Left out where the
   * service sent its rows, or none, as an array.
   */
  readonly withoutData?: "null" | "missing";
}

/**
 * How many rows the service put on a page, those without identifier included.
 */
export function rowsOn(page: Page<unknown>): number {
  return page.data.length + page.rowsWithoutId.length;
}

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
