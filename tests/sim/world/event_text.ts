import type { RecordedEvent } from "../../../ledger/testing/mod.ts";

/** Everything of an event but its place, to be compared. */
export function eventText(event: RecordedEvent): string {
  const { position: _, body, salt, ...columns } = event;
  return JSON.stringify({
    ...columns,
    body: body?.toHex() ?? null,
    salt: salt?.toHex() ?? null,
  });
}
