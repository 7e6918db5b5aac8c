import type { RecordedEvent } from "../../../events/event.ts";
import type { ErasedPart } from "../../../hashes/commitment.ts";
import type { Statement } from "../../driver/driver.ts";
import {
  nameRequestsByEvents,
  nameRequestsById,
} from "../polling/request_places.ts";

/** What is stored in place of an event. */
export interface BlankedEvent {
  /** The event as it is from now on. */
  readonly blanked: Pick<
    RecordedEvent,
    "position" | "eventId" | "orderId" | "userId" | "clickId"
  >;
  /** How much of it is gone. */
  readonly part: ErasedPart;
  /** What stands for that. */
  readonly commitment: Uint8Array;
}

/** Blanks events, and stores what stands for them. */
export function blankEvents(events: readonly BlankedEvent[]): Statement[] {
  const commitments = new Uint8Array(events.length * 32);
  events.forEach(({ commitment }, at) => commitments.set(commitment, at * 32));
  const rows = JSON.stringify(
    events.map(({ blanked, part }) => [
      blanked.position,
      part,
      blanked.eventId,
      blanked.userId,
      blanked.clickId,
      blanked.orderId,
    ]),
  );
  const positions = JSON.stringify(events.map((one) => one.blanked.position));
  return [nameRequestsById(positions), {
    sql: `INSERT INTO erasures (position, part, commitment)
      SELECT value ->> 0, value ->> 1, substr(?1, key * 32 + 1, 32)
      FROM json_each(?2) WHERE true
      ON CONFLICT (position) DO UPDATE SET
        part = excluded.part, commitment = excluded.commitment`,
    args: [commitments, rows],
  }, {
    sql: `UPDATE events SET body = NULL, digest = NULL, salt = NULL,
        event_id = w.value ->> 2, user_id = w.value ->> 3,
        click_id = w.value ->> 4, order_id = w.value ->> 5
      FROM json_each(?1) AS w WHERE events.position = w.value ->> 0`,
    args: [rows],
  }, nameRequestsByEvents(positions)];
}
