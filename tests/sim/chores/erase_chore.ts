import {
  eraseBodyAt,
  leafOf,
  type RecordedEvent,
} from "../../../ledger/testing/mod.ts";
import { eventsIn } from "../rules/stored.ts";
import type { Dice } from "../world/dice.ts";
import { foldCode } from "../world/fold_versions.ts";
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
  { ledger, foldVersion }: Incarnation,
  dice: Dice,
): Promise<boolean> {
  const { journal } = world;
  if (journal.erased.size > 0) return false;
  const events = await eventsIn(
    world,
    `e.kind = 'webhook' AND length(e.body) > 0 AND EXISTS (SELECT 1 FROM ledger AS l
      WHERE e.position <= l.position AND l.fold_version = ?)`,
    foldVersion,
  );
  if (events.length === 0) return false;
  const event = dice.pick(events);
  journal.erased.set(event.eventId, event);
  const parts = {
    driver: ledger.driver,
    assets: "sandbox",
    now: () => world.now(),
    randomBytes: (length: number) => dice.bytes(length),
    fold: foldCode(world.ports.fold, foldVersion),
  } as const;
  await eraseBodyAt(parts, event.position);
  await erased(world, event);
  return true;
}

async function erased(world: World, before: RecordedEvent): Promise<void> {
  const { position, eventId, kind, recordedAt, orderId, userId } = before;
  const [after] = await eventsIn(world, "e.position = ?", position);
  check(
    "erasing takes the body and leaves the rest",
    after !== undefined && after.eventId === eventId && after.kind === kind &&
      after.recordedAt === recordedAt && after.orderId === orderId &&
      after.userId === userId &&
      text.decode(after.body ?? undefined).includes('"erased":true'),
    () => `the event at ${position} is now ${JSON.stringify(after)}`,
  );
  const named = await eventsIn(world, "e.kind = 'person_erased'");
  const leaf = leafOf(before as Parameters<typeof leafOf>[0]).toHex();
  check(
    "what was erased is still committed to",
    named.some(({ body }) =>
      text.decode(body ?? undefined).includes(`[${position},"${leaf}",`)
    ),
    () => `position ${position} is left without its leaf`,
  );
}

const text = new TextDecoder();
