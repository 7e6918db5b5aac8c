import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { readOrdersAt } from "../queries/orders_as_of.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import {
  countEventsUpTo,
  selectEventAt,
  selectEventWithId,
  selectHead,
  selectNthPosition,
  selectPositionsOfKind,
} from "../store/tables/events/events.ts";
import type { MonthClose } from "./month_close.ts";
import { type MonthStore, readMonthAt as readAt } from "./stored_months.ts";

/** Reads the positions of the closed months; a month keeps its position. */
export async function readMonthPositions(driver: Driver): Promise<number[]> {
  const [found] = await driver.batch(
    [selectPositionsOfKind("month_closed")],
    "read",
  );
  return found?.rows.map(([position]) => position as number) ?? [];
}

/** Reads the closed month at a position; null when none is there. */
export function readMonthAt(
  driver: Driver,
  position: number,
): Promise<MonthClose | null> {
  return readAt({ at: (at) => readOne(driver, selectEventAt(at)) }, position);
}

async function readOne(
  driver: Driver,
  statement: Statement,
): Promise<RecordedEvent | null> {
  const [found] = await driver.batch([statement], "read");
  const row = found?.rows[0];
  return row === undefined ? null : recordedEvent(row);
}

/** Events and orders of a database. */
export function monthStore(
  driver: Driver,
  readFact: (event: RecordedEvent) => Fact,
): MonthStore {
  const numbers = async (statement: Statement) => {
    const [found] = await driver.batch([statement], "read");
    return (found?.rows[0] ?? []).map(Number);
  };
  return {
    positions: () => readMonthPositions(driver),
    at: (position) => readOne(driver, selectEventAt(position)),
    withId: (eventId) => readOne(driver, selectEventWithId(eventId)),
    head: async () => {
      const [position = 0, events = 0] = await numbers(selectHead);
      return { position, events };
    },
    countTo: async (position) =>
      (await numbers(countEventsUpTo(position)))[0] ?? 0,
    nth: async (events) =>
      (await numbers(selectNthPosition(events)))[0] ?? null,
    ordersAt: (position, signal) =>
      readOrdersAt(driver, {
        asOf: { position },
        readFact,
        ...(signal && { signal }),
      }),
  };
}
