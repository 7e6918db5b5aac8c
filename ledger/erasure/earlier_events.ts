import { isExpectationKind } from "../machines/event_kind.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { MatchFact } from "../events/order_facts.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import {
  type Driver,
  readPrimary,
  type Statement,
} from "../store/driver/driver.ts";
import { decodeOrderFold } from "../projection/codec/fold_codec.ts";
import type { Checkpoint } from "../store/tables/checkpoints.ts";
import {
  type ErasableEvent,
  erasableEvents,
  selectErasableOfOrders,
} from "../store/tables/erasure/erasable_events.ts";
import { countErasure } from "../store/tables/erasure/erasures.ts";
import { deleteTraces } from "../store/tables/erasure/traces.ts";
import { selectOrderFolds } from "../store/tables/orders.ts";
import { matchToKeep } from "./erasure_plan.ts";
import type { Redaction } from "./redact_event.ts";
import { keepsNames } from "./redact_events.ts";
import { statesAfter, touchedBy } from "./states_after.ts";

/** What newEvents are redacted with. */
export interface NewEventParts extends ResolveOptions {
  /** The states onto which the events will be folded. */
  readonly live: Checkpoint;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
  /** Random bytes for ids and salts. */
  readonly randomBytes: (length: number) => Uint8Array;
}

/** Reads what was folded of orders that are known to be erased only now. */
export async function readEarlier(
  driver: Driver,
  orderIds: readonly string[],
  position: number,
): Promise<ErasableEvent[]> {
  if (orderIds.length === 0) return [];
  const [rows] = await readPrimary(driver, [
    selectErasableOfOrders(orderIds, position),
  ]);
  return erasableEvents(rows).filter(({ event, erased }) =>
    event.kind === "order_redacted"
      ? keepsNames(event)
      : (event.kind === "webhook" || event.kind === "order_snapshot") &&
        (event.body !== null || erased?.part === "body")
  );
}

/** Reads how some orders compare with what was recorded, by order id. */
export async function readMatches(
  driver: Driver,
  orderIds: readonly string[],
  { live, ...resolve }: NewEventParts,
): Promise<ReadonlyMap<string, MatchFact | null>> {
  if (orderIds.length === 0) return new Map();
  const [rows] = await readPrimary(driver, [
    selectOrderFolds(live.generation, orderIds),
  ]);
  return new Map(
    rows?.rows.map(([id, fold]) => [
      String(id),
      matchToKeep(decodeOrderFold(String(fold)), resolve),
    ]),
  );
}

/** Makes the states anew that events had a part in which are redacted now. */
export async function foldAgain(
  driver: Driver,
  { live, readFact, ...resolve }: NewEventParts,
  { newIds, earlier, redacted }: {
    readonly newIds: readonly string[];
    readonly earlier: readonly ErasableEvent[];
    readonly redacted: readonly Redaction[];
  },
): Promise<Statement[]> {
  if (earlier.length === 0) return [];
  const { position, generation } = live;
  const touched = await touchedBy(driver, {
    userId: null,
    orderIds: newIds,
    events: earlier,
  });
  return [
    ...countErasure,
    ...deleteTraces({
      ...touched,
      ownOrders: newIds,
      erasedUsers: [],
      sessions: earlier.filter(({ event }) => isExpectationKind(event.kind))
        .map(({ event }) => event.position),
      deliveries: earlier.filter(({ event }) => event.kind === "webhook")
        .map(({ event }) => event.eventId),
    }),
    ...await statesAfter(driver, {
      ...resolve,
      ...touched,
      redacted: redacted.filter(({ blanked }) => blanked.position <= position),
      position,
      generation,
      readFact,
    }),
  ];
}
