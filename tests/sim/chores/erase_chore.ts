import { eraseBody } from "../../../ledger/mod.ts";
import {
  bodyCommitment,
  EVENTS,
  type RecordedEvent,
  recordedEvent,
} from "../../../ledger/testing/mod.ts";
import type { Dice } from "../world/dice.ts";
import type { Incarnation } from "../world/incarnation.ts";
import { check } from "../world/journal.ts";
import type { World } from "../world/world.ts";

/**
 * What one webhook said is erased. One a run: what states then are is one of
 * two things, and not one of very many.
 *
 * @returns Whether there was something to erase.
 */
export async function eraseOne(
  world: World,
  { ledger }: Incarnation,
  dice: Dice,
): Promise<boolean> {
  const { store, journal } = world;
  if (journal.erased.size > 0) return false;
  const [found] = await store.batch([{
    // States that were folded already keep what they took from it.
    sql: `SELECT ${EVENTS.list()} FROM events
      WHERE kind = 'webhook' AND position <=
        (SELECT position FROM projections WHERE name = 'live')`,
    args: [],
  }], "read");
  const events = found?.rows.map(recordedEvent) ?? [];
  if (events.length === 0) return false;
  const event = dice.pick(events);
  journal.erased.set(event.eventId, event);
  await eraseBody(ledger.driver, event.position);
  await erased(world, event);
  return true;
}

async function erased({ store }: World, before: RecordedEvent): Promise<void> {
  const { position, body, digest, salt } = before;
  const [event, kept] = await store.batch([
    {
      sql: `SELECT ${EVENTS.list()} FROM events WHERE position = ?`,
      args: [position],
    },
    {
      sql: "SELECT commitment FROM erasures WHERE position = ?",
      args: [position],
    },
  ], "read");
  const after = event?.rows[0] && recordedEvent(event.rows[0]);
  const nothing = { body: null, digest: null, salt: null };
  check(
    "erasing takes the body and leaves the columns",
    JSON.stringify(after) === JSON.stringify({ ...before, ...nothing }),
    () => `the event at ${position} is now ${JSON.stringify(after)}`,
  );
  const commitment = kept?.rows[0]?.[0];
  check(
    "what was erased is still committed to",
    commitment instanceof Uint8Array && body !== null && digest !== null &&
      salt !== null &&
      commitment.toHex() === bodyCommitment({ body, digest, salt }).toHex(),
    () => `position ${position} is left without its commitment`,
  );
}
