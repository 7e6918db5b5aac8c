/** What a note can be about. */
export const NOTED_ENTITIES = [
  "order",
  "user",
  "delivery",
  "subscription",
] as const;

/** What a note can do. */
export const NOTE_ACTIONS = ["note", "acknowledge", "reopen"] as const;

/** What a person noted about something that waits. */
export interface Note {
  /** Its own identifier: a ULID, so that notes sort by time. */
  readonly id: string;
  /** What kind of thing it is about. */
  readonly entity: (typeof NOTED_ENTITIES)[number];
  /** Which one. */
  readonly entityId: string;
  /**
   * - `note`: says something.
   * - `acknowledge`: somebody deals with the reasons.
   * - `reopen`: it waits again for the reasons.
   */
  readonly action: (typeof NOTE_ACTIONS)[number];
  /** Why it waited when this was noted. */
  readonly reasons: readonly string[];
  /** What was noted; may be empty where it acknowledges or opens again. */
  readonly text: string;
  /** Who noted it. */
  readonly author: string;
  /** When, UTC ISO 8601. */
  readonly notedAt: string;
}

/**
 * Whether somebody deals with every reason for which something waits. A reason
 * that came later than an acknowledgement is not covered by it.
 *
 * @param reasons Why it waits now.
 * @param notes Its notes, the oldest first.
 */
export function isAcknowledged(
  reasons: readonly string[],
  notes: readonly Note[],
): boolean {
  const dealtWith = new Set<string>();
  for (const { action, reasons: noted } of notes) {
    for (const reason of noted) {
      if (action === "acknowledge") dealtWith.add(reason);
      else if (action === "reopen") dealtWith.delete(reason);
    }
  }
  return reasons.length > 0 && reasons.every((reason) => dealtWith.has(reason));
}
