import { GrowingText, parseJson } from "./parse_json.ts";

/**
 * Exponents up to this size are written out as plain decimals. No amount needs
 * more, and a text of a few bytes must not grow to a thousand.
 */
const largestPlainExponent = 40;

/**
 * Parses JSON with every number kept as its exact decimal string, so that no
 * amount passes through a binary float.
 *
 * Digits stay as sent (`1.50` is `"1.50"`); exponent forms become plain
 * decimals without loss (`1e-8` is `"0.00000001"`) unless the exponent exceeds
 * 40, where the text is kept: so what is read stays in proportion to `text`. A
 * number and a string of the same digits
 * cannot be told apart afterwards.
 *
 * @param text A JSON text.
 * @param mostValues Values that it may hold, those within others included: each
 * takes far more memory than text. @default {any number}
 * @returns The value, with strings where the text has numbers.
 * @throws {SyntaxError} When `text` is not JSON.
 * @throws {RangeError} When it holds more values.
 *
 * @example Read an amount
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(parseExact('{"crypto_amount": 0.100000000000000001}'), {
 *   crypto_amount: "0.100000000000000001",
 * });
 * ```
 */
export function parseExact(
  text: string,
  mostValues: number = Infinity,
): unknown {
  const read = rereadNumbers(text, mostValues);
  if (read !== undefined) return read;
  const quoted = quoteNumbers(text, mostValues);
  try {
    return parseJson(quoted);
  } catch {
    // The plain text is parsed again so that the error quotes the original text.
    JSON.parse(text);
    throw new SyntaxError("Cannot parse JSON: the text has a number as a key");
  }
}

/** Levels of nesting that {@linkcode rereadNumbers} goes into. */
const DEEPEST_REREAD = 16;

/** Characters of a text for each value that it can hold: `[[],[],[]]`. */
const LEAST_TEXT_OF_VALUE = 1.5;

/** Longer pieces of a text hold on to all of it in V8. */
const LONGEST_COPY = 12;

const QUOTE = 34;
const COLON = 58;

/**
 * Parses a text plainly, and reads only its numbers again: where each stands
 * follows from the values before it, as long as the text has nothing that they
 * do not show. It is one walk over values in the place of one over characters.
 *
 * The text then has no spaces between its parts and no name twice. Each number
 * is looked for where it would stand in such a text, and has to be one there.
 * If the text has more in it, that many characters are left over at the end.
 *
 * @returns The value; undefined for a text that has to be read character by
 * character: with escapes, spaces, numbered names, numbers in arrays or deep
 * nesting, that may hold too many values, or that is not JSON.
 */
function rereadNumbers(text: string, mostValues: number): unknown {
  const colon = text.indexOf('":');
  if (
    text.length > mostValues * LEAST_TEXT_OF_VALUE ||
    isSpace(text.charCodeAt(1)) || isSpace(text.charCodeAt(colon + 2)) ||
    text.includes("\\")
  ) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value === "number") return undefined;
  const found: Found = { numbers: 0, isInOrder: true };
  const end = rereadOther(value, text, 0, 0, found);
  if (end === LOST) return undefined;
  return found.numbers === 0 || (found.isInOrder && end === text.length)
    ? value
    : undefined;
}

/** What {@linkcode rereadMembers} met so far. */
interface Found {
  /** Numbers that it put texts for. */
  numbers: number;
  /** Whether the engine has each name where the text has it. */
  isInOrder: boolean;
}

/** In the place of a position: a value is not where it would have to be. */
const LOST = -1;

/**
 * Puts texts for the numbers in an object that would begin at a place.
 *
 * @returns Where it would end; {@linkcode LOST} where it has to be read anew.
 */
function rereadMembers(
  members: Record<string, unknown>,
  text: string,
  start: number,
  depth: number,
  found: Found,
): number {
  let at = start + 1;
  for (const name in members) {
    // The engine puts names that are numbers first, wherever they stood.
    if (at === start + 1 && isDigit(name.charCodeAt(0))) {
      found.isInOrder = false;
    }
    at += name.length + 3;
    const value = members[name];
    if (typeof value === "string") {
      at += value.length + 2;
    } else if (typeof value === "number") {
      const end = endOfNamed(name, text, at);
      if (end === at) return LOST;
      members[name] = plainDecimal(copyOf(text.slice(at, end)));
      found.numbers++;
      at = end;
    } else {
      at = rereadOther(value, text, at, depth, found);
      if (at === LOST) return LOST;
    }
    at++;
  }
  return at === start + 1 ? at + 1 : at;
}

/** The same of any value that is no number. */
function rereadOther(
  value: unknown,
  text: string,
  start: number,
  depth: number,
  found: Found,
): number {
  if (typeof value === "string") return start + value.length + 2;
  if (typeof value !== "object" || value === null) {
    return start + (value === false ? 5 : 4);
  }
  if (depth > DEEPEST_REREAD) return LOST;
  if (!Array.isArray(value)) {
    const members = value as Record<string, unknown>;
    return rereadMembers(members, text, start, depth + 1, found);
  }
  let at = start + 1;
  for (const item of value) {
    if (typeof item === "number") return LOST;
    at = rereadOther(item, text, at, depth + 1, found);
    if (at === LOST) return LOST;
    at++;
  }
  return value.length === 0 ? at + 1 : at;
}

/** A number as a text of its own. */
function copyOf(piece: string): string {
  return piece.length > LONGEST_COPY ? JSON.parse(`"${piece}"`) : piece;
}

/** Where a number ends that stands behind a name; `start` for none there. */
function endOfNamed(name: string, text: string, start: number): number {
  const last = name.charCodeAt(name.length - 1);
  // The quote behind a letter ends a text, and the colon makes that a name.
  return isLetter(last) && text.charCodeAt(start - 3) === last &&
      text.charCodeAt(start - 2) === QUOTE &&
      text.charCodeAt(start - 1) === COLON
    ? endOfNumber(text, start)
    : start;
}

function isLetter(char: number): boolean {
  return char >= 97 && char <= 122;
}

function isSpace(char: number): boolean {
  return char === 32 || char === 10 || char === 13 || char === 9;
}

/**
 * Puts quotes around each number outside of strings, which leaves the parsing
 * to the engine: about four times as fast as a reviver.
 *
 * @throws {RangeError} When it meets more values.
 */
function quoteNumbers(text: string, mostValues: number): string {
  const end = text.length;
  const out = new GrowingText();
  let copied = 0;
  let at = 0;
  // Each value follows one of these signs, but for the whole text.
  let signs = 0;
  let backslash = text.indexOf("\\");
  while (at < end) {
    const char = text.charCodeAt(at);
    if (char === 34 /* " */) {
      let close = text.indexOf('"', at + 1);
      while (backslash !== -1 && backslash < close) {
        if (backslash + 1 === close) close = text.indexOf('"', close + 1);
        backslash = text.indexOf("\\", backslash + 2);
      }
      if (close === -1) return text;
      at = close + 1;
    } else if (char > 57 || (char < 48 && char !== 45 /* - */)) {
      if (char === 44 /* , */ || char === 91 /* [ */ || char === 123 /* { */) {
        if (++signs > mostValues) {
          throw new RangeError(
            `Cannot parse JSON: it holds more than ${mostValues} values`,
          );
        }
      }
      at++;
    } else {
      const stop = endOfNumber(text, at);
      const next = text.charCodeAt(stop);
      if (next !== 44 /* , */ && next !== 125 /* } */ && isKey(text, stop)) {
        return text;
      }
      if (stop > at) {
        const number = text.slice(at, stop);
        out.add(text.slice(copied, at) + '"' + plainDecimal(number) + '"');
        copied = stop;
      }
      at = stop > at ? stop : at + 1;
    }
  }
  return copied === 0 ? text : out.toString() + text.slice(copied);
}

function isDigit(char: number): boolean {
  return char >= 48 && char <= 57;
}

/** Where the JSON number at `start` ends; `start` when there is none. */
export function endOfNumber(text: string, start: number): number {
  let at = start;
  if (text.charCodeAt(at) === 45 /* - */) at++;
  if (!isDigit(text.charCodeAt(at))) return start;
  if (text.charCodeAt(at) === 48 /* 0 */) at++;
  else at = endOfDigits(text, at);
  if (text.charCodeAt(at) === 46 /* . */ && isDigit(text.charCodeAt(at + 1))) {
    at = endOfDigits(text, at + 1);
  }
  const char = text.charCodeAt(at);
  if (char === 101 /* e */ || char === 69 /* E */) {
    const sign = text.charCodeAt(at + 1);
    const digits = sign === 43 /* + */ || sign === 45 /* - */ ? at + 2 : at + 1;
    if (isDigit(text.charCodeAt(digits))) at = endOfDigits(text, digits);
  }
  return at;
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

/** Whether a colon follows: quoting would turn a broken text into a good one. */
function isKey(text: string, stop: number): boolean {
  let at = stop;
  for (;;) {
    const char = text.charCodeAt(at);
    if (char === 58 /* : */) return true;
    if (!isSpace(char)) return false;
    at++;
  }
}

/**
 * Writes a JSON number as a plain decimal, without loss.
 *
 * @param number A JSON number, for example `1.5e-7`.
 * @returns The same number without exponent; `number` itself when it has none,
 * or one larger than 40.
 *
 * @example Write out an exponent
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(plainDecimal("1.5e-7"), "0.00000015");
 * ```
 */
export function plainDecimal(number: string): string {
  if (!number.includes("e") && !number.includes("E")) return number;
  const match = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(number);
  if (match === null) return number;
  const [, sign = "", whole = "", fraction = "", exponentText = "0"] = match;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > largestPlainExponent) return number;
  const digits = whole + fraction;
  const point = whole.length + exponent;
  const integer = point <= 0
    ? "0"
    : digits.slice(0, point).padEnd(point, "0").replace(/^0+(?=\d)/, "");
  const rest = point <= 0
    ? digits.padStart(digits.length - point, "0")
    : digits.slice(point);
  return rest === "" ? sign + integer : `${sign}${integer}.${rest}`;
}
