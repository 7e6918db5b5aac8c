import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { readExpectations } from "./read_expectations.ts";
import { placeRedacted } from "./place_redacted.ts";
import type { Driver } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import {
  selectEventsOfOrder,
  selectWebhooksOfOrder,
} from "../store/tables/events/events.ts";

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
    facts: [...own, ...expected].sort((a, b) => a.position - b.position),
    unread: Number(left?.rows[0]?.[0] ?? 0),
  };
}
