/** Whether a value is an object with named fields: no null and no array. */
export function isRecord(
  value: unknown,
): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Turns a thrown value into text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
