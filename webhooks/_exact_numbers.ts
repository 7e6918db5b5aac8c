/** Source text of a number: known to V8, not yet to TypeScript's types. */
type ExactParse = (
  text: string,
  reviver: (
    key: string,
    value: unknown,
    context: { readonly source?: string },
  ) => unknown,
) => unknown;

/** Parses `text` with every number as the text it was written in. */
export function exactNumbers(text: string): unknown {
  try {
    return (JSON.parse as ExactParse)(
      text,
      (_key, value, context) =>
        typeof value === "number" ? context?.source : value,
    );
  } catch (error) {
    // A reviver recurses: nesting that plain parsing takes can exhaust the
    // stack here, and an amount is not worth losing the event for.
    if (!(error instanceof RangeError)) throw error;
    return JSON.parse(text);
  }
}
