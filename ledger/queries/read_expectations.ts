import type { ExpectationWindow } from "../events/expectation.ts";
import type { RecordedEvent } from "../events/event.ts";
import {
  type ExpectationFact,
  type Fact,
  isExpectation,
} from "../events/fact.ts";
import { expectationWindow, sameWindow } from "../orders/expectations.ts";
import { evolveOrder, initialOrderFold } from "../orders/order_fold.ts";
import type { Driver } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import { selectExpectations } from "../store/tables/events/expectations.ts";

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
