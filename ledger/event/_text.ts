/**
 * Text fit for an indexed column: well formed and free of NUL, because SQLite
 * ends a text at NUL and a lone surrogate cannot be stored as UTF-8.
 */
export function columnText(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const text = value.toWellFormed().replaceAll("\0", "");
  return text === "" ? null : text;
}

/** `value` as an object whose fields may be looked at, whatever it is. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {};
}
