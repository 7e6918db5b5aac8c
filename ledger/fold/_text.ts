/** Values of claims are cut at this many characters: anybody may post them. */
const longestClaimText = 8192;

/**
 * Makes all text in a decoded JSON value well formed and free of NUL, so that
 * any database and any encoder can hold it. Only an escape can bring in either,
 * so a text without `\\u` has nothing to clean, and is not walked.
 */
export function cleaned<T>(value: T, source: string): T {
  return source.includes("\\u") ? clean(value) as T : value;
}

function clean(value: unknown): unknown {
  if (typeof value === "string") {
    return value.toWellFormed().replaceAll("\0", "");
  }
  if (Array.isArray(value)) return value.map(clean);
  const object = objectOf(value);
  if (object === null) return value;
  return Object.fromEntries(
    Object.entries(object).map(([key, inner]) => [key, clean(inner)]),
  );
}

/** Text of a decoded field: null when absent or JSON null. */
export function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : null;
}

/** Like {@linkcode textOf}, with the empty string read as absent. */
export function filledText(value: unknown): string | null {
  const text = textOf(value);
  return text === "" ? null : text;
}

/** Like {@linkcode filledText}, of bounded length. */
export function claimText(value: unknown): string | null {
  const text = filledText(value);
  return text !== null && text.length > longestClaimText
    ? text.slice(0, longestClaimText).toWellFormed()
    : text;
}

/**
 * Text of a field of a reading: null when absent, the empty string when the
 * service states that there is none (empty or JSON null).
 */
export function statedText(value: unknown): string | null {
  if (value === undefined) return null;
  return value === null ? "" : textOf(value);
}

/** The empty string read as absent. */
export function emptyToNull(text: string | null): string | null {
  return text === "" ? null : text;
}

/** Upper case, absent stays absent. */
export function upper(text: string | null): string | null {
  return text === null ? null : text.toUpperCase();
}

/** A decoded JSON object, or null. */
export function objectOf(
  value: unknown,
): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Readonly<Record<string, unknown>>
    : null;
}

/** A click id that links: not empty, and not that of the test event. */
export function linking(clickId: string | null): string | null {
  return clickId === "" || clickId === "test_click_id" ? null : clickId;
}
