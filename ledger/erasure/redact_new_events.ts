import {
  type Driver,
  readPrimary,
  type Statement,
} from "../store/driver/driver.ts";
import { hex } from "@scure/base";
import { isExpectation } from "../events/fact.ts";
import { expectCheckpoint } from "../store/tables/checkpoints.ts";
import type { BatchEvent } from "../projection/batch.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import { expectNoRow } from "../store/driver/expect_row.ts";
import { blankEvents } from "../store/tables/erasure/blanked_events.ts";
import {
  erasableEvents,
  selectErasableAt,
} from "../store/tables/erasure/erasable_events.ts";
import {
  type ErasedOrder,
  erasedOrders,
  insertErasedOrders,
  insertReturnedOrders,
  selectErasedOrders,
} from "../store/tables/erasure/erased_orders.ts";
import {
  insertNames,
  markReturned,
  selectKeys,
} from "../store/tables/erasure/hidden_names.ts";
import { type ErasedNames, hideName, readErasedNames } from "./erased_names.ts";
import {
  foldAgain,
  type NewEventParts,
  readEarlier,
  readMatches,
} from "./earlier_events.ts";
import { type FindValues, storedValues } from "./erased_values.ts";
import { findHolders, type Holders, NO_HOLDERS } from "./find_holders.ts";
import { insertFindings } from "../store/tables/erasure/erased_values.ts";
import { ownClicks, readEventsOfClicks } from "./own_clicks.ts";
import {
  type Names,
  NO_NAMES,
  readPrunedNames,
  withCounterparts,
} from "./pruned_arrivals.ts";
import { redactEvents } from "./redact_events.ts";

/**
 * Redacts events that arrived since an erasure and are about what was erased,
 * before they are folded. A session, or an order that was created later, is new
 * business: from then on the user counts as returned.
 *
 * @param events Events that are about to be folded.
 * @param parts What they are folded onto, and randomness.
 * @returns Whether any was redacted: then they have to be read again.
 */
export async function redactNewEvents(
  driver: Driver,
  events: readonly BatchEvent[],
  parts: NewEventParts,
): Promise<boolean> {
  const { live, randomBytes } = parts;
  const pruned = await readPrunedNames(driver, events);
  const newEvents = events.map((event) =>
    namesOf(event, pruned.get(event.fact.position))
  );
  const orderIds = newEvents.flatMap(({ orderId }) => orderId ?? []);
  const [rows] = await readPrimary(driver, [
    selectErasedOrders([...new Set(orderIds)]),
  ]);
  const orders = erasedOrders(rows);
  const users = await readErasedNames(
    driver,
    "user",
    newEvents.flatMap(({ userId }) => userId ?? []),
  );
  const clicks = await readErasedNames(
    driver,
    "click",
    newEvents.flatMap(({ clickId, orderId, userId }) =>
      orderId === null && userId === null ? clickId ?? [] : []
    ),
  );
  const findValues = await storedValues(driver);
  const isKnown = orders.size > 0 || users.size > 0 || clicks.size > 0;
  if (!isKnown && findValues === null) return false;
  const known = { orders, users, clicks };
  const { erased, others, newOrders, returned, returnedOrders } = decideAll(
    newEvents,
    known,
    randomBytes,
  );
  const isNew = ({ orderId }: NewEventNames) => newOrders.has(orderId ?? "");
  // Click ids that were not known to be the person's at the erasure, and that
  // the service states: a webhook of the order may name anybody's.
  const newClicks = await ownClicks(
    driver,
    erased.filter((one) => isNew(one) && one.showsOwner)
      .flatMap(({ clickId }) => clickId ?? []),
    (orderId) => orders.has(orderId) || newOrders.has(orderId),
  );
  for (const other of others) {
    if (other.orderId !== null && !isNew(other)) {
      newClicks.delete(other.clickId ?? "");
    }
  }
  const positions = [
    ...erased,
    ...others.filter((other) =>
      isNew(other) ||
      other.orderId === null && other.userId === null &&
        newClicks.has(other.clickId ?? "")
    ),
  ].map(({ position }) => position);
  const holders = await holdersAmong(driver, events, {
    findValues,
    taken: new Set(positions),
    returned,
  });
  positions.push(...holders.blank);
  const at = newEvents[0]?.recordedAt ?? "";
  const notes = [
    ...markReturned(
      [...returned].flatMap((userId) => users.get(userId)?.hash ?? []),
      at,
    ),
    ...(returnedOrders.length === 0
      ? []
      : [insertReturnedOrders(returnedOrders, at)]),
    ...(newOrders.size === 0
      ? []
      : [insertErasedOrders([...newOrders.values()])]),
    ...await hideClicks(driver, newClicks, at),
    ...(holders.list.length === 0 ? [] : [insertFindings(holders.list, at)]),
  ];
  const [found] = await driver.batch([selectErasableAt(positions)], "write");
  const newIds = [...newOrders.keys()];
  const earlier = [
    ...await readEventsOfClicks(driver, newClicks, live.position),
    ...await readEarlier(driver, newIds, live.position),
  ];
  const erasable = [...earlier, ...erasableEvents(found)];
  const whole = new Set(
    erasable.filter(({ erased }) => erased === null)
      .map(({ event }) => event.position),
  );
  const matches = await readMatches(driver, newIds, parts);
  const redacted = redactEvents(
    await withCounterparts(driver, erasable, live.position),
    {
      part: "identity",
      randomBytes,
      names: ({ orderId }) =>
        orders.get(orderId ?? "") ?? newOrders.get(orderId ?? "") ??
          { userId: null, clickId: null },
      isErased: (userId) => users.has(userId),
      matchOf: (orderId) => matches.get(orderId) ?? null,
    },
  );
  const kept = redacted.flatMap((one) => one.retained ?? []);
  const statements = [
    ...(earlier.length === 0 ? [] : [expectCheckpoint("live", live)]),
    // Another process may be doing the same.
    ...redacted.flatMap(({ blanked: { position } }) =>
      whole.has(position) ? expectNoRow("erasures", { position }) : []
    ),
    ...notes,
    ...(redacted.length === 0 ? [] : blankEvents(redacted)),
    ...await foldAgain(driver, parts, { newIds, earlier, redacted }),
    ...(kept.length === 0 ? [] : [appendStatement(kept)]),
  ];
  if (statements.length > 0) await driver.batch(statements, "write");
  return redacted.length > 0;
}

/** Events that hold an erased value in a place that names nobody. */
async function holdersAmong(
  driver: Driver,
  events: readonly BatchEvent[],
  { findValues, taken, returned }: {
    readonly findValues: FindValues | null;
    readonly taken: ReadonlySet<number>;
    readonly returned: ReadonlySet<string>;
  },
): Promise<Holders> {
  if (findValues === null) return NO_HOLDERS;
  const others = events.flatMap(({ fact, named }) => {
    const { position, recordedAt } = fact;
    const isTaken = taken.has(position) || returned.has(named.userId ?? "");
    return isTaken ? [] : [{ ...named, position, recordedAt }];
  });
  return await findHolders(driver, others, findValues);
}

/** What is known of those who were erased. */
interface Known {
  readonly orders: ReadonlyMap<string, ErasedOrder>;
  readonly users: ErasedNames;
  readonly clicks: ErasedNames;
}

/** Divides new events into those that are redacted and others. */
function decideAll(
  newEvents: readonly NewEventNames[],
  known: Known,
  randomBytes: (length: number) => Uint8Array,
) {
  const { orders, users } = known;
  const returned = new Set<string>();
  const returnedOrders: string[] = [];
  const erased: NewEventNames[] = [];
  const others: NewEventNames[] = [];
  const newOrders = new Map<string, ErasedOrder>();
  for (const arrival of newEvents) {
    const decided = decide(arrival, { ...known, returned });
    const { orderId, userId } = arrival;
    if (decided === "returns" && userId !== null) {
      returned.add(userId);
      if (orderId !== null) returnedOrders.push(orderId);
    }
    if (decided === "stays") others.push(arrival);
    if (decided !== "erased") continue;
    erased.push(arrival);
    if (arrival.showsOwner && orderId !== null && !orders.has(orderId)) {
      newOrders.set(orderId, {
        orderId,
        userId: `erased-${hex.encode(randomBytes(10))}`,
        clickId: null,
        erasedAt: users.get(userId ?? "")?.erasedAt ?? arrival.recordedAt,
      });
    }
  }
  return { erased, others, newOrders, returned, returnedOrders };
}

/** Statements by which click ids are recognised when they come again. */
async function hideClicks(
  driver: Driver,
  clickIds: ReadonlySet<string>,
  erasedAt: string,
): Promise<Statement[]> {
  if (clickIds.size === 0) return [];
  const [keys] = await readPrimary(driver, [selectKeys]);
  const key = keys?.rows[0]?.[0];
  if (!(key instanceof Uint8Array)) return [];
  return insertNames([...clickIds].map((clickId) => ({
    hash: hideName(key, "click", clickId),
    kind: "click",
    erasedAt,
  })));
}

/** The part of a fact that decides whether it is redacted. */
interface NewEventNames extends Names {
  readonly position: number;
  readonly recordedAt: string;
  readonly isReading: boolean;
  readonly isSession: boolean;
  /** When the service created the order; empty where it does not say. */
  readonly createdAt: string;
}

function namesOf(
  { fact, named }: BatchEvent,
  pruned: Names | undefined,
): NewEventNames {
  const { position, recordedAt } = fact;
  // A fact says only what is folded: that of a login, for example, no click id.
  const { orderId, clickId } = named;
  const isReading = fact.kind === "order_snapshot" && pruned === undefined;
  const isSession = isExpectation(fact);
  const saysNothing = fact.kind === "order_absent" ||
    fact.kind === "order_contradicted" || fact.kind === "order_released";
  return {
    position,
    recordedAt,
    ...(pruned ?? (saysNothing ? NO_NAMES : {
      orderId,
      userId: isReading
        ? fact.reading.userId
        : isSession
        ? fact.expectation.userId
        : named.userId,
      clickId,
      showsOwner: isReading,
    })),
    isReading,
    isSession,
    createdAt: isReading ? fact.reading.createdAt : "",
  };
}

/** Whether it is about what was erased, or about new business. */
function decide(
  arrival: NewEventNames,
  known: Known & { readonly returned: ReadonlySet<string> },
): "erased" | "returns" | "stays" {
  const { orderId, userId, clickId } = arrival;
  if (orderId !== null && known.orders.has(orderId)) return "erased";
  const user = known.users.get(userId ?? "");
  if (user !== undefined && userId !== null) {
    const time = arrival.isReading ? arrival.createdAt : arrival.recordedAt;
    if (arrival.isReading || arrival.isSession) {
      return time > user.erasedAt ? "returns" : "erased";
    }
    const isBack = user.returnedAt !== null || known.returned.has(userId);
    return isBack && arrival.recordedAt > user.erasedAt ? "stays" : "erased";
  }
  return clickId !== null && known.clicks.has(clickId) ? "erased" : "stays";
}
