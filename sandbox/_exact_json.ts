/** A number of a JSON text, kept as the digits it was written with. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What the runtime has and its types do not name yet. */
const exactJson = JSON as unknown as {
  rawJSON(text: string): unknown;
  parse(
    text: string,
    reviver: (
      this: unknown,
      key: string,
      value: unknown,
      context: { source?: string },
    ) => unknown,
  ): unknown;
};

/** A JSON number written with exactly these digits. */
export function jsonNumber(digits: string): unknown {
  return exactJson.rawJSON(digits);
}

/** Parses JSON; numbers become {@linkcode NumberText}. */
export function parseNumbersAsText(text: string): unknown {
  return exactJson.parse(
    text,
    (_key, value, context) =>
      typeof value === "number"
        ? new NumberText(context.source ?? String(value))
        : value,
  );
}

/** A plain object, as opposed to null, a list, a number or a text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null &&
    !Array.isArray(value) && !(value instanceof NumberText);
}
