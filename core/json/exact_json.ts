import { parseJson } from "./parse_json.ts";

/**
 * Exponents up to this size are written out as plain decimals. No amount needs
 * more, and a text of a few bytes must not grow to a thousand.
 */
const LARGEST_PLAIN_EXPONENT = 40;

/** A JSON number. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;

/**
 * A string, or the rest of the text where it does not end: each character is
 * looked at once, whatever the text.
 */
const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)/;

/** Runs of strings, which are as fast as one, and what may be a number. */
const TOKEN = new RegExp(
  `(?:${STRING.source}[\\s:,{}[\\]a-z]*){1,50}|-?\\d[\\d.eE+-]*`,
  "g",
);

/** Each value follows one of these signs, but for the whole text. */
const SIGN = new RegExp(`${STRING.source}|[,[{]`, "g");

/** Characters of a text for each value that it can hold: `[[],[],[]]`. */
const LEAST_TEXT_OF_VALUE = 1.5;

/**
 * Parses JSON with every number kept as its exact decimal string, so that no
 * amount passes through a binary float.
 *
 * Digits stay as sent (`1.50` is `"1.50"`); exponent forms become plain
 * decimals without loss (`1e-8` is `"0.00000001"`) unless the exponent exceeds
 * 40, where the text is kept: so what is read stays in proportion to `text`. A
 * number and a string of the same digits
 * cannot be told apart afterwards.
 */
export function parseExact(
  text: string,
  mostValues: number = Infinity,
): unknown {
  refuseMore(text, mostValues);
  const quoted = text.replace(
    TOKEN,
    (token, at: number) =>
      // What is no number, or a name, is left for the engine to refuse.
      token.startsWith('"') || !isJsonNumber(token) ||
        isNameAt(text, at + token.length)
        ? token
        : `"${plainDecimal(token)}"`,
  );
  try {
    return parseJson(quoted);
  } catch {
    // The plain text is parsed again so that the error quotes the original text.
    JSON.parse(text);
    throw new SyntaxError("Cannot parse JSON: the text has a number as a key");
  }
}

function refuseMore(text: string, mostValues: number): void {
  if (text.length <= mostValues * LEAST_TEXT_OF_VALUE) return;
  let signs = 0;
  for (const [token] of text.matchAll(SIGN)) {
    if (!token.startsWith('"') && ++signs > mostValues) {
      throw new RangeError(
        `Cannot parse JSON: it holds more than ${mostValues} values`,
      );
    }
  }
}

const COLON = /\s*:/y;

function isNameAt(text: string, end: number): boolean {
  COLON.lastIndex = end;
  return COLON.test(text);
}

/** Whether a text is a JSON number. */
export function isJsonNumber(text: string): boolean {
  return NUMBER.exec(text)?.[0] === text;
}

/** Writes a JSON number as a plain decimal, without loss. */
export function plainDecimal(number: string): string {
  if (!number.includes("e") && !number.includes("E")) return number;
  const match = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(number);
  if (match === null) return number;
  const [, sign = "", whole = "", fraction = "", exponentText = "0"] = match;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > LARGEST_PLAIN_EXPONENT) return number;
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
