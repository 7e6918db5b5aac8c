import { utf8Prefix } from "../bytes.ts";

/**
 * The most bytes of an identifier in UTF-8, which are as many characters of
 * ASCII. The service's own have at most 36, and the widget takes no other click
 * ids than of ASCII; a partner's references have room. A longer one would be
 * stored again in every column, index and state that names it.
 */
export const LONGEST_IDENTIFIER = 256;

/** Whether a text is too long to identify anything. */
export function isLongText(value: unknown): boolean {
  return typeof value === "string" &&
    utf8Prefix(value, LONGEST_IDENTIFIER) !== value;
}

/**
 * Whether a value can be an identifier: a text that is neither empty nor longer
 * than {@linkcode LONGEST_IDENTIFIER} bytes, and that no database would store as
 * another text.
 */
export function isIdentifier(value: unknown): value is string {
  return typeof value === "string" && value !== "" &&
    !isLongText(value) && value.isWellFormed() &&
    !value.includes("\0");
}

/** Longest id that is requested: the service's own have 26 characters. */
const LONGEST = 128;

/**
 * Whether an id can be requested: anybody may post a webhook with any id, and
 * one with a comma would split into two. The service has no other ids.
 */
export function isRequestable(id: string): boolean {
  return id.length <= LONGEST && /^[\x21-\x7e]+$/.test(id) &&
    !id.includes(",");
}
