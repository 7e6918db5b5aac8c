import { derive, factId } from "./derive.ts";
import type { RecordedEvent } from "./event.ts";

/** A column that does not follow from the body. */
export interface UnderivedColumn {
  /** The column. */
  readonly field: string;
  /** What it holds. */
  readonly stored: string | null;
  /** What the body says. */
  readonly derived: string | null;
}

/**
 * Finds the first column of an event that does not follow from its body. The
 * id of a webhook delivery is given at receipt and follows from nothing.
 *
 * @param event The event.
 * @param body Its body.
 * @returns Null when all do.
 * @throws {SyntaxError} When a body other than a webhook's is not JSON.
 */
export function underivedColumn(
  event: Omit<RecordedEvent, "position">,
  body: Uint8Array,
): UnderivedColumn | null {
  const { columns, entity } = derive(event.kind, body);
  for (const [field, derived] of Object.entries(columns)) {
    const stored = event[field as keyof typeof columns];
    if (stored !== derived) return { field, stored, derived };
  }
  if (event.kind === "webhook") return null;
  const stored = event.eventId;
  const derived = entity === null
    ? null
    : factId(event.kind, entity, event.readAt, columns.digest);
  return stored === derived ? null : { field: "eventId", stored, derived };
}
