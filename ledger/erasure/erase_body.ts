/** Erases the body of one event, whoever it is about. */
import { readFact } from "../events/read_fact.ts";
import type { Driver } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { moveGuard } from "../projection/guard.ts";
import { FOLD } from "../projection/project.ts";
import { readDeciding, statement, write } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf, type StoredEvent } from "../store/events.ts";
import { readFolded } from "./person.ts";
import { isRedacted, rewritten } from "./redact.ts";
import { type ErasureParts, replaceEvents, updateEvent } from "./rewrite.ts";

/**
 * Erases the body of one event; `Ledger.erasures` erases a person. What kind of event it is stays, and whom it names.
 *
 * @param driver Database that holds a ledger.
 * @param position Position of the event.
 * @returns Whether there was something to erase.
 * @throws {LedgerError} `failed` where events are not folded by this version.
 *
 * @example Erase an event
 * ```ts
 * import { eraseBody, openLedger } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * await ledger.recordSession({ session_id: "5f0c6a0e", flow_type: "simple" });
 * assert.equal(await eraseBody(ledger.driver, 1), true);
 * assert.equal((await ledger.verify()).ok, true);
 * ```
 */
export async function eraseBody(
  driver: Driver,
  position: number,
): Promise<boolean> {
  return await eraseBodyAt(await partsOf(driver), position);
}

/** The same with a clock, chance and fold of the caller's. */
export function eraseBodyAt(
  parts: ErasureParts,
  position: number,
): Promise<boolean> {
  return retryLostRaces(async () => {
    const { driver, randomBytes } = parts;
    const guard = await readFolded(parts, "erase");
    const [rows] = await readDeciding(driver, [statement(
      `SELECT ${EVENT_COLUMNS} FROM events AS e
        WHERE e.position = ?`,
      position,
    )]);
    const [before] = eventsOf(rows);
    if (before === undefined || isRedacted(before)) return false;
    const { kind } = before;
    const after = rewritten(before, whatStays(before), { kind, randomBytes });
    const replaced = [{ before, after }];
    await write(
      driver,
      position <= guard.position
        ? await replaceEvents(parts, { guard, replaced })
        // Nothing vouches yet for what is not folded.
        : [moveGuard(guard), updateEvent(after)],
    );
    return true;
  });
}

async function partsOf(driver: Driver): Promise<ErasureParts> {
  const [rows] = await readDeciding(driver, [
    statement("SELECT id, environment FROM ledger"),
  ]);
  const [ledgerId, environment] = rows?.[0] ?? [];
  return {
    ...{ driver, ledgerId: String(ledgerId), readFact },
    assets: environment === "sandbox" ? "sandbox" : "production",
    now: Date.now,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    foldVersion: FOLD.version,
  };
}

function whatStays(
  { kind, type, orderId, userId, clickId }: StoredEvent,
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
