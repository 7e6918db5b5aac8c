/** Whether a value is an object with named fields: no null and no array. */
export function isRecord(
  value: unknown,
): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a thrown system error is called, `ENOENT` for one; else undefined. */
export function errorCode(error: unknown): unknown {
  return isRecord(error) ? error.code : undefined;
}

/** Turns a thrown value into text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
