import { hex } from "@scure/base";
import type { RecordedEvent } from "../events/event.ts";
import { readFact } from "../events/read_fact.ts";
import { isExpectationKind } from "../machines/event_kind.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { decodeOrderFold } from "../projection/codec/fold_codec.ts";
import {
  type Driver,
  readPrimary,
  type Statement,
} from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import {
  expectCheckpoint,
  expectLast,
  moveToLast,
} from "../store/tables/checkpoints.ts";
import { blankEvents } from "../store/tables/erasure/blanked_events.ts";
import type { ErasableEvent } from "../store/tables/erasure/erasable_events.ts";
import { insertErasedOrders } from "../store/tables/erasure/erased_orders.ts";
import {
  beginComparison,
  insertValues,
} from "../store/tables/erasure/erased_values.ts";
import {
  countErasure,
  insertErasedPerson,
} from "../store/tables/erasure/erasures.ts";
import {
  insertNames,
  insertOwnKey,
  selectKeys,
} from "../store/tables/erasure/hidden_names.ts";
import {
  deleteTraces,
  updateObservedDigests,
} from "../store/tables/erasure/traces.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import { selectOrderFolds } from "../store/tables/orders.ts";
import { selectObservedDigests } from "../store/tables/polling/observations.ts";
import { compareEvents, countHolders } from "./compare_events.ts";
import { hideName, isSameId } from "./erased_names.ts";
import { hideValues, personValues } from "./erased_values.ts";
import {
  type Comparison,
  type ErasureParts,
  type FoldedEvents,
  readFoldedEvents,
} from "./erasure_parts.ts";
import {
  erasableOrder,
  type ErasurePlan,
  erasurePlan,
  matchToKeep,
} from "./erasure_plan.ts";
import { ownClicks, statedClicks } from "./own_clicks.ts";
import { type PersonEvents, readPersonEvents } from "./person_events.ts";
import { type OrderNames, redactReading } from "./redact_event.ts";
import { redactEvents } from "./redact_events.ts";
import { statesAfter, touchedBy } from "./states_after.ts";

/** Result of an erasure. */
export interface Erasure extends ErasurePlan {
  /** Result of comparing the remaining events with the person's ids. */
  readonly compared: Comparison;
  /**
   * Pseudonym that replaces the user id from now on; null when nothing was
   * found.
   */
  readonly pseudonym: string | null;
}

/** How a person is erased. */
export interface ErasePersonOptions {
  /**
   * Erases even while an order is under way or a refund is due, and even when
   * the service was not asked for orders that only webhooks attribute to the
   * person.
   *
   * @default false
   */
  readonly force?: boolean;
}

/** Everything that is read before writing. */
interface Found extends PersonEvents, FoldedEvents {
  readonly folds: ReadonlyMap<string, OrderFold>;
  readonly plan: ErasurePlan;
}

/**
 * Works out what {@linkcode erasePerson} would remove.
 *
 * @param userId The user.
 * @param compares Whether what would be left is compared with the person's ids,
 * which reads every event.
 * @throws {LedgerError} `failed` where another version has folded the ledger.
 */
export async function planErasure(
  parts: ErasureParts,
  userId: string,
  compares: boolean = false,
): Promise<ErasurePlan> {
  const found = await find(parts, userId);
  if (!compares) return found.plan;
  const { driver } = parts;
  const { events, orderIds } = found;
  const own = await ownClicks(
    driver,
    statedClicks(events.map(({ event }) => event)),
    (orderId) => orderIds.includes(orderId),
  );
  const values = personValues(found, own);
  const compared = await countHolders(
    driver,
    (texts) =>
      Promise.resolve(
        new Map(
          [...texts].flatMap((text) => {
            const kind = values.get(text);
            return kind === undefined ? [] : [[text, kind]];
          }),
        ),
      ),
    new Set(events.map(({ event }) => event.position)),
  );
  return { ...found.plan, compared };
}

/**
 * Erases a person, in one transaction: a kill leaves all or nothing. What is
 * kept of each order is appended as `order_redacted`, and the events that said
 * more are blanked. Their commitments stay, so that the evidence chain holds.
 *
 * @param userId The user.
 * @param options Whether to erase whatever is under way.
 * @throws {LedgerError} `failed` where an order is under way or a refund is due,
 * or another version has folded the ledger.
 */
export async function erasePerson(
  parts: ErasureParts,
  userId: string,
  { force = false }: ErasePersonOptions = {},
): Promise<Erasure> {
  const done = await retryLostRaces(async () => {
    const found = await find(parts, userId);
    const nothing = found.events.length === 0 && found.orderIds.length === 0;
    if (nothing) return { ...found.plan, pseudonym: null };
    const unasked = found.plan.claims.filter(({ isAsked }) => !isAsked);
    if (unasked.length > 0 && !force) {
      throw new LedgerError(
        "failed",
        "Cannot erase before the service was asked for orders that only " +
          "webhooks name as the person's: " +
          unasked.map(({ orderId }) => orderId).join(", "),
      );
    }
    const blocked = found.plan.orders.filter(({ blocks }) => blocks.length > 0);
    if (blocked.length > 0 && !force) {
      throw new LedgerError(
        "failed",
        "Cannot erase while an order is under way or a refund is due: " +
          blocked.map(({ orderId, blocks }) =>
            `${orderId} (${blocks.join(", ")})`
          )
            .join(", "),
      );
    }
    const pseudonym = newName(parts);
    await parts.driver.batch(
      await erasing(parts, found, pseudonym),
      "write",
    );
    return { ...found.plan, pseudonym };
  });
  // What a process that was killed has left to compare is compared as well.
  return { ...done, compared: await compareEvents(parts) };
}

async function find(parts: ErasureParts, userId: string): Promise<Found> {
  const { driver, assets = "production" } = parts;
  const folded = await readFoldedEvents(parts, "erase");
  const { live } = folded;
  const person = await readPersonEvents(driver, userId, live.position);
  const [rows] = await readPrimary(driver, [
    selectOrderFolds(live.generation, person.orderIds),
  ]);
  const folds = new Map(
    rows?.rows.map(([id, fold]) => [
      String(id),
      decodeOrderFold(fold as string),
    ]),
  );
  const orders = [...folds.values()]
    .map((fold) => erasableOrder(fold, { assets }));
  const plan = erasurePlan(person, orders);
  return { ...person, ...folded, folds, plan };
}

async function erasing(
  parts: ErasureParts,
  found: Found,
  pseudonym: string,
): Promise<Statement[]> {
  const { driver, now, randomBytes, assets = "production" } = parts;
  const { userId, orderIds, events, folds, live, isLast } = found;
  const erasedAt = new Date(now()).toISOString();
  const clicks = new Map<string, string>();
  const clickName = (clickId: string | null) => {
    if (clickId === null) return null;
    const name = clicks.get(clickId) ?? newName(parts);
    clicks.set(clickId, name);
    return name;
  };
  const namesOf = (event: RecordedEvent): OrderNames => ({
    userId: isSameId(event.userId, userId) ? pseudonym : null,
    clickId: clickName(event.clickId),
  });
  const redacted = redactEvents(events, {
    part: "identity",
    randomBytes,
    names: namesOf,
    isErased: (id) => isSameId(id, userId),
    matchOf: (orderId) => {
      const fold = folds.get(orderId);
      return fold === undefined ? null : matchToKeep(fold, { assets });
    },
  });
  const erasedOrders = orderIds.map((orderId) => ({
    orderId,
    userId: pseudonym,
    clickId: clickName(folds.get(orderId)?.latest?.clickId || null),
    erasedAt,
  }));
  const hidden = await ownClicks(
    driver,
    statedClicks(events.map(({ event }) => event)),
    (orderId) => orderIds.includes(orderId),
  );
  const touched = await touchedBy(driver, found);
  const key = await ownKey(parts);
  const kept = redacted.flatMap((one) => one.retained ?? []);
  return [
    expectCheckpoint("live", live),
    ...(isLast ? [expectLast(live.position)] : []),
    ...countErasure,
    insertOwnKey(key),
    ...insertNames([
      { hash: hideName(key, "user", userId), kind: "user", erasedAt },
      ...[...hidden].map((clickId) => ({
        hash: hideName(key, "click", clickId),
        kind: "click",
        erasedAt,
      })),
    ]),
    ...insertValues(hideValues(key, personValues(found, hidden))),
    beginComparison(live.position),
    insertErasedOrders(erasedOrders),
    insertErasedPerson({
      pseudonym,
      erasedAt,
      events: events.length,
      orders: orderIds.length,
    }),
    ...blankEvents(redacted),
    ...(kept.length === 0 ? [] : [appendStatement(kept)]),
    ...deleteTraces({
      ...touched,
      ownOrders: orderIds,
      erasedUsers: found.spellings,
      sessions: events.filter(({ event }) => isExpectationKind(event.kind))
        .map(({ event }) => event.position),
      deliveries: events.filter(({ event }) => event.kind === "webhook")
        .map(({ event }) => event.eventId),
    }),
    ...await statesAfter(driver, {
      ...touched,
      assets,
      redacted,
      position: live.position,
      generation: live.generation,
      readFact: parts.fold?.readFact ?? readFact,
    }),
    updateObservedDigests(
      await observedDigests(driver, events, erasedOrders),
    ),
    // The states have what was kept already.
    ...(isLast ? [moveToLast] : []),
  ];
}

/**
 * What the poller remembers of each order: the same answer must not be recorded
 * again once it is redacted.
 */
async function observedDigests(
  driver: Driver,
  events: readonly ErasableEvent[],
  orders: readonly (OrderNames & { orderId: string })[],
): Promise<(readonly [string, string])[]> {
  const [rows] = await readPrimary(driver, [
    selectObservedDigests(orders.map(({ orderId }) => orderId)),
  ]);
  const observed = new Map(
    rows?.rows.map(([id, digest]) => [String(id), String(digest)]),
  );
  return orders.map((order) => {
    const digest = observed.get(order.orderId);
    const reading = events.find(({ event }) =>
      event.kind === "order_snapshot" && event.orderId === order.orderId &&
      event.digest === digest
    )?.event;
    if (reading === undefined) return [order.orderId, ""];
    const { body, salt } = reading;
    if (body === null || salt === null) return [order.orderId, ""];
    const whole = { ...reading, body, salt, digest: "" };
    const { digest: now } = redactReading(whole, { names: order });
    return [order.orderId, now];
  });
}

/** The ledger's key; a new one where it has none. */
async function ownKey(
  { driver, randomBytes }: ErasureParts,
): Promise<Uint8Array> {
  const [keys] = await driver.batch([selectKeys], "write");
  const key = keys?.rows[0]?.[0];
  return key instanceof Uint8Array ? key : randomBytes(32);
}

/** A random name, derived from nothing. */
function newName({ randomBytes }: ErasureParts): string {
  return `erased-${hex.encode(randomBytes(10))}`;
}
