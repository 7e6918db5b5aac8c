/** Takes out the body of one event, as earlier versions left such events. */
import type { RecordedEvent } from "../events/event.ts";
import { derive, ERASED_ID } from "../events/record.ts";
import {
  type ErasureParts,
  isRedacted,
  readFolded,
  replaceEvents,
} from "../erasure/redact.ts";
import { FOLD } from "../projection/project.ts";
import { type Driver, retryLostRaces, write } from "../store/database.ts";
import { readEvents } from "../store/events.ts";

/**
 * Takes out the body of one event of a ledger of the sandbox. What kind of event it is
 * stays, and whom it names.
 *
 * @returns Whether there was something to take out.
 */
export function eraseBody(driver: Driver, position: number): Promise<boolean> {
  return eraseBodyAt({
    ...{ driver, fold: FOLD, assets: "sandbox", now: Date.now },
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  }, position);
}

/** The same with a clock, chance and fold of the caller's. */
export function eraseBodyAt(
  parts: ErasureParts,
  position: number,
): Promise<boolean> {
  const { driver, randomBytes } = parts;
  return retryLostRaces(async () => {
    const guard = await readFolded(parts, "erase");
    const [before] = await readEvents(
      driver,
      "events AS e WHERE e.position = ?",
      position,
    );
    if (before === undefined || isRedacted(before)) return false;
    const left = { ...whatStays(before), erased: true };
    const body = new TextEncoder().encode(JSON.stringify(left));
    const after = {
      ...before,
      ...derive(before.kind, body).columns,
      body,
      eventId: before.kind === "webhook"
        ? before.eventId
        : ERASED_ID + randomBytes(16).toHex(),
      salt: randomBytes(16),
    };
    const replaced = [{ before, after }];
    await write(driver, await replaceEvents(parts, { guard, replaced }));
    return true;
  });
}

function whatStays(
  { kind, type, orderId, userId, clickId }: RecordedEvent,
): object {
  const click = clickId !== null && { click_id: clickId };
  if (kind === "webhook") {
    return {
      ...type !== null && { type },
      ...userId !== null && { user: { user_id: userId } },
      ...orderId !== null && { order: { id: orderId } },
      ...click,
    };
  }
  return kind !== "order_snapshot" ? { ...click } : {
    ...orderId !== null && { order_id: orderId },
    ...userId !== null && { user_id: userId },
    ...click,
  };
}
