/** Erases the body of one event, whoever it is about. */
import { FOLD } from "../projection/project.ts";
import { readDeciding, statement, write } from "../store/database.ts";
import type { Driver } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { readEvents, type StoredEvent } from "../store/events.ts";
import { isRedacted, rewritten } from "./redact.ts";
import { type ErasureParts, readFolded, replaceEvents } from "./rewrite.ts";

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
  const [rows] = await readDeciding(driver, [
    statement("SELECT environment FROM ledger"),
  ]);
  return await eraseBodyAt({
    ...{ driver, fold: FOLD, now: Date.now },
    assets: rows?.[0]?.[0] === "sandbox" ? "sandbox" : "production",
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
    const body = whatStays(before);
    const replaced = [{
      ...{ before, after: rewritten(before, { body, randomBytes }) },
    }];
    await write(driver, await replaceEvents(parts, { guard, replaced }));
    return true;
  });
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
