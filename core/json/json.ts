/** Strings of a JSON text, each with the colon that makes it a name. */
const STRING_OR_NAME = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?/g;

/**
 * `JSON.parse` without one fault of V8: it can mistake an escaped name
 * (`{"\u0061": 1}`) for another name that it has parsed before in the same
 * process. The same text must always give the same value. So each escaped name
 * is written without escape, or as a stand-in that is replaced afterwards.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (
    !text.includes("\\") || !text.match(STRING_OR_NAME)?.some(isEscapedName)
  ) {
    return value;
  }
  const mark = unusedIn(text);
  const names: string[] = [];
  const plain = text.replace(STRING_OR_NAME, (token) => {
    if (!isEscapedName(token)) return token;
    const name: string = JSON.parse(token.slice(0, -1));
    const written = JSON.stringify(name);
    if (!written.includes("\\") && !written.includes(mark)) {
      return `${written}:`;
    }
    return `"${mark}${names.push(name) - 1}":`;
  });
  const read: unknown = JSON.parse(plain);
  return names.length === 0
    ? read
    : putBack(read, (name) =>
      name.startsWith(mark)
        ? names[Number(name.slice(mark.length))]
        : undefined);
}

function isEscapedName(token: string): boolean {
  return token.endsWith(":") && token.includes("\\");
}

/** A character that a text does not have. */
function unusedIn(text: string): string {
  const used = new Set(text);
  let point = 0xe000;
  while (used.has(String.fromCodePoint(point))) point++;
  return String.fromCodePoint(point);
}

/**
 * Puts names in the place of their stand-ins; without recursion, at any depth.
 * Of a name that repeats the last value counts, in the place of the first.
 */
function putBack(
  root: unknown,
  nameOf: (standIn: string) => string | undefined,
): unknown {
  const top = { root };
  const waiting: [holder: object, name: string][] = [[top, "root"]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [holder, name] = next;
    let value: unknown = Reflect.get(holder, name);
    if (typeof value !== "object" || value === null) continue;
    if (Object.keys(value).some((name) => nameOf(name) !== undefined)) {
      value = Object.fromEntries(
        Object.entries(value).map((
          [name, held],
        ) => [nameOf(name) ?? name, held]),
      );
      // Plain assignment would make `__proto__` something else than a field.
      Object.defineProperty(holder, name, { value });
    }
    for (const [name, held] of Object.entries(value as object)) {
      if (typeof held === "object") waiting.push([value as object, name]);
    }
  }
  return top.root;
}

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
function isJsonNumber(text: string): boolean {
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
