/** Values of claims are cut at this many characters: anybody may post them. */
const longestClaimText = 8192;

/**
 * Text of a decoded field: null when absent or JSON null, well formed and free
 * of NUL otherwise, so that any database and any encoder can hold it.
 */
export function textOf(value: unknown): string | null {
  if (typeof value === "string") {
    if (value === "" || (value.isWellFormed() && !value.includes("\0"))) {
      return value;
    }
    return value.toWellFormed().replaceAll("\0", "");
  }
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
