import type { ReleaseByHand } from "../../../ledger/mod.ts";
import {
  EVENT_COLUMNS,
  eventsOf,
  type RecordedEvent,
  type SqlValue,
} from "../../../ledger/testing/mod.ts";
import type { World } from "../world/world.ts";
import { rows } from "./stored.ts";

/** What a person did about an order. */
export interface ByHand {
  /** What the person did. */
  readonly outcome: ReleaseByHand["outcome"];
  /** Reference of what was handed out; null where none was named. */
  readonly reference: string | null;
  readonly position: number;
  /** What orders several of one order. */
  readonly at: string;
}

const decoder = new TextDecoder();

/** What persons did, by the events alone. */
export class HandWatch {
  readonly #recorded = new Map<string, ByHand[]>();

  /** Takes an event, whatever it is of. */
  take(
    { kind, orderId, body, position, recordedAt, eventId }: RecordedEvent,
  ): void {
    if (kind !== "order_released" || orderId === null) return;
    const { outcome, for: reference = null } = JSON.parse(
      decoder.decode(body ?? new Uint8Array()),
    );
    const all = this.#recorded.get(orderId) ?? [];
    this.#recorded.set(orderId, all);
    all.push({ outcome, reference, position, at: `${recordedAt} ${eventId}` });
  }

  /** All that persons recorded of an order. */
  all(orderId: string): readonly ByHand[] {
    return this.#recorded.get(orderId) ?? [];
  }

  /**
   * What stood of an order by then: the last by when it was recorded.
   *
   * @param position Of the last event that counts.
   */
  by(orderId: string, position: number = Infinity): ByHand | null {
    const [last] = this.all(orderId).filter((one) => one.position <= position)
      .toSorted((a, b) => a.at < b.at ? 1 : -1);
    return last === undefined || last.outcome === "taken_back" ? null : last;
  }
}

/** Orders of which a person recorded something, as the ledger has them. */
export async function ordersByHand(world: World): Promise<Set<string>> {
  return handsOf(await rows(world, ORDERS_BY_HAND));
}

/** Selects what persons recorded of orders, for {@linkcode handsOf}. */
export const ORDERS_BY_HAND =
  `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.kind = 'order_released'`;

/** The orders that these rows are of. */
export function handsOf(rows: readonly (readonly SqlValue[])[]): Set<string> {
  return new Set(eventsOf(rows).flatMap(({ orderId }) => orderId ?? []));
}
