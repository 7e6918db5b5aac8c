import type { RecordedEvent } from "../events/event.ts";
import {
  type ExpectationFact,
  type Fact,
  isExpectation,
} from "../events/fact.ts";
import { readWitnessRules } from "../expectations/witness_requirement.ts";
import type { Driver } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import {
  selectEventsOfOrder,
  selectWebhooksOfOrder,
} from "../store/tables/events/events.ts";
import type { ExpectationWindow } from "../events/expectation.ts";
import { expectationWindow, sameWindow } from "../orders/expectations.ts";
import { evolveOrder, initialOrderFold } from "../orders/order_fold.ts";
import { selectExpectations } from "../store/tables/events/expectations.ts";

/** What is known of an order, as facts. */
export interface OrderFacts {
  /** The facts, by position; none when nothing names the order. */
  readonly facts: readonly Fact[];
  /** Webhooks that were not read, because there are too many before them. */
  readonly unread: number;
}

/** Events that are read at once: bodies may be long. */
const STEP = 50;

/** Most webhooks of an order that are read: anybody can send another one. */
export const MOST_WEBHOOKS = 2_000;

/**
 * Reads the facts of an order: the events that name it, and what the partner
 * expects of it. Of webhooks only the first {@linkcode MOST_WEBHOOKS} are read.
 *
 * @param orderId The order.
 * @param readFact Turns events into facts.
 */
export async function readOrderFacts(
  driver: Driver,
  orderId: string,
  readFact: (event: RecordedEvent) => Fact,
): Promise<OrderFacts> {
  const all: Fact[] = [];
  let webhooksRead = 0;
  let webhooksTo = 0;
  for (let after = 0;;) {
    const webhooks = webhooksRead < MOST_WEBHOOKS;
    const [events] = await driver.batch([
      selectEventsOfOrder(orderId, { after, limit: STEP, webhooks }),
    ], "read");
    const rows = events?.rows ?? [];
    for (const row of rows) {
      const event = recordedEvent(row);
      after = event.position;
      if (event.kind === "webhook") webhooksRead++;
      all.push(readFact(event));
    }
    if (webhooks) webhooksTo = after;
    if (rows.length < STEP) break;
  }
  const [left] = webhooksRead < MOST_WEBHOOKS
    ? []
    : await driver.batch([selectWebhooksOfOrder(orderId, webhooksTo)], "read");
  const own = placeRedacted(all);
  const expected = await readExpectations(
    driver,
    new Map([[orderId, own]]),
    readFact,
  );
  return {
    facts: [...own, ...expected, ...await readWitnessRules(driver, readFact)]
      .sort((a, b) => a.position - b.position),
    unread: Number(left?.rows[0]?.[0] ?? 0),
  };
}

/**
 * Reads what the partner expects of orders, and what was expected of them while
 * less was known.
 *
 * @param orders The facts of each order, by position.
 * @param readFact Turns events into facts.
 */
export async function readExpectations(
  driver: Driver,
  orders: ReadonlyMap<string, readonly Fact[]>,
  readFact: (event: RecordedEvent) => Fact,
): Promise<ExpectationFact[]> {
  const windows = [...orders].flatMap(([orderId, facts]) =>
    windowsOf(orderId, facts)
  );
  if (windows.length === 0) return [];
  const [found] = await driver.batch(
    [selectExpectations(windows, { earlier: true })],
    "read",
  );
  return (found?.rows ?? []).map((row) => readFact(recordedEvent(row)))
    .filter(isExpectation);
}

/** Where the expectations of an order were, after each of its readings. */
function windowsOf(
  orderId: string,
  facts: readonly Fact[],
): ExpectationWindow[] {
  const windows: ExpectationWindow[] = [];
  let fold = initialOrderFold(orderId);
  for (const fact of facts) {
    if (fact.kind !== "order_snapshot") continue;
    fold = evolveOrder(fold, fact);
    const window = expectationWindow(fold);
    if (window === null || sameWindow(window, windows.at(-1) ?? null)) continue;
    windows.push(window);
  }
  return windows;
}

/**
 * Moves what was kept of erased events to the positions of those, so that what
 * was known at a position is the same after an erasure.
 *
 * @param facts Facts of one order.
 * @returns The facts by position.
 */
export function placeRedacted(facts: readonly Fact[]): Fact[] {
  if (facts.every(({ redacts }) => redacts === undefined)) return [...facts];
  const places = new Map(
    facts.map(({ eventId, position }) => [eventId, position]),
  );
  return facts.map((fact) => {
    const position = places.get(fact.redacts ?? "");
    return position === undefined ? fact : { ...fact, position };
  }).sort((a, b) => a.position - b.position);
}
