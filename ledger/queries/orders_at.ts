import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { placeRedacted } from "../events/place_redacted.ts";
import { compareTimes } from "../events/time.ts";
import {
  type Link,
  linkKey,
  orderLinks,
  sessionLinks,
} from "../projection/links.ts";
import type { Driver } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/event_row.ts";
import {
  selectEventsOfOrders,
  selectOrderIdsUpTo,
} from "../store/tables/events.ts";
import { selectLiveSessions } from "../store/tables/links.ts";

/**
 * What was known: the events up to a position, which nothing changes later, or
 * those recorded up to a time, to which an event that waited elsewhere is added
 * when it comes.
 */
export type AsOf =
  | {
    /** Position of the last event. */
    readonly position: number;
  }
  | {
    /** UTC ISO 8601 with milliseconds. */
    readonly time: string;
  };

/** What was known of one order. */
export interface OrderFactsAt {
  /** The order. */
  readonly orderId: string;
  /** Its facts and the sessions linked to it, by position; never empty. */
  readonly facts: readonly Fact[];
}

/** How to read orders as of then. */
export interface OrdersAtOptions {
  /** What was known. */
  readonly asOf: AsOf;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
  /** Stops between two pages. */
  readonly signal?: AbortSignal;
}

/** Orders whose events are read at once. */
const PAGE = 200;

/**
 * Walks over all orders as they were known, by order id. It reads events, not
 * read models, so that none is missed while others append and fold.
 */
export async function* readOrdersAt(
  driver: Driver,
  { asOf, readFact, signal }: OrdersAtOptions,
): AsyncGenerator<OrderFactsAt> {
  const position = "position" in asOf ? asOf.position : Number.MAX_SAFE_INTEGER;
  const isKnown = (fact: Fact) =>
    "position" in asOf
      ? fact.position <= asOf.position
      : compareTimes(fact.recordedAt, asOf.time) <= 0;
  for (let after = "";;) {
    signal?.throwIfAborted();
    const [ids] = await driver.batch(
      [selectOrderIdsUpTo(position, { after, limit: PAGE })],
      "read",
    );
    const orderIds = ids?.rows.map(([id]) => id as string) ?? [];
    const last = orderIds.at(-1);
    if (last === undefined) return;
    after = last;
    const [events] = await driver.batch(
      [selectEventsOfOrders(orderIds, position)],
      "read",
    );
    const own = new Map<string, Fact[]>();
    for (const row of events?.rows ?? []) {
      const event = recordedEvent(row);
      if (event.orderId === null) continue;
      const fact = readFact(event);
      const facts = own.get(event.orderId);
      if (facts === undefined) own.set(event.orderId, [fact]);
      else facts.push(fact);
    }
    for (const [orderId, facts] of own) {
      const known = placeRedacted(facts).filter(isKnown);
      if (known.length === 0) own.delete(orderId);
      else own.set(orderId, known);
    }
    const sessions = await readSessions(driver, own, readFact);
    for (const orderId of orderIds) {
      const facts = own.get(orderId);
      if (facts === undefined) continue;
      const linked = new Set(
        facts.flatMap(orderLinks).flatMap((link) =>
          sessions.get(linkKey(link))?.filter(isKnown) ?? []
        ),
      );
      const all = [...facts, ...linked];
      yield { orderId, facts: all.sort((a, b) => a.position - b.position) };
    }
  }
}

/** The partner's sessions under the links of some orders. */
async function readSessions(
  driver: Driver,
  own: ReadonlyMap<string, readonly Fact[]>,
  readFact: (event: RecordedEvent) => Fact,
): Promise<ReadonlyMap<string, readonly Fact[]>> {
  const links = new Map<string, Link>();
  for (const facts of own.values()) {
    for (const fact of facts) {
      for (const link of orderLinks(fact)) links.set(linkKey(link), link);
    }
  }
  const sessions = new Map<string, Fact[]>();
  if (links.size === 0) return sessions;
  const [found] = await driver.batch(
    [selectLiveSessions([...links.values()])],
    "read",
  );
  for (const row of found?.rows ?? []) {
    const fact = readFact(recordedEvent(row));
    if (fact.kind !== "session_created") continue;
    for (const link of sessionLinks(fact)) {
      const key = linkKey(link);
      sessions.set(key, [...sessions.get(key) ?? [], fact]);
    }
  }
  return sessions;
}
