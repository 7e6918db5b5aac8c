import type { Entity } from "../../entity.ts";
import type { NewEvent } from "../../events/event.ts";
import { orderAbsent, orderSnapshot, userSnapshot } from "../../events/mint.ts";
import { normaliseStatus } from "../../orders/order_rank.ts";
import type { Status } from "../../orders/status.ts";
import type { Observation } from "../../store/tables/polling/observations.ts";

/** An answer of the service about some orders or users. */
export interface ServiceAnswer {
  /** Exact JSON text of each order or user in it. */
  readonly sources: readonly string[];
  /** Status and `changed_at` of each, as sent; of orders only. */
  readonly states: readonly {
    /** Status as sent; null where there is none. */
    readonly status: string | null;
    /** `changed_at` as sent. */
    readonly changedAt: string | null;
  }[];
  /** Ids requested, and not there after an exhausted walk. */
  readonly missing: readonly string[];
  /** When the service answered, UTC ISO 8601. */
  readonly readAt: string;
  /** When it was requested, by our clock, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
}

/** What an answer says about one order or user. */
export interface Reading {
  /** The reading as a row. */
  readonly observation: Observation;
  /** The reading as an event; null for a user that is not there. */
  readonly event: NewEvent | null;
  /** `changed_at` as sent; of orders only. */
  readonly changedAt: string | null;
}

/**
 * Takes an answer apart. Rows without an id are left out.
 *
 * @param entity What the answer is about.
 * @param answer The answer.
 * @param clock Our clock, in ms since the epoch, and random bytes for salts.
 */
export function readingsOf(
  entity: Entity,
  answer: ServiceAnswer,
  { now, randomBytes }: {
    readonly now: () => number;
    readonly randomBytes: (length: number) => Uint8Array;
  },
): Reading[] {
  const { readAt } = answer;
  const requestedAt = new Date(answer.requestedAtMs).toISOString();
  const mint = () => ({
    readAt,
    recordedAt: new Date(now()).toISOString(),
    salt: randomBytes(16),
  });
  const items = new Map<string, Reading>();
  answer.sources.forEach((source, at) => {
    const state = answer.states[at];
    const event = entity === "order"
      ? orderSnapshot({ source, ...mint() })
      : userSnapshot({ source, ...mint() });
    const entityId = entity === "order" ? event.orderId : event.userId;
    if (entityId === null) return;
    items.set(entityId, {
      event,
      changedAt: state?.changedAt ?? null,
      observation: {
        entityId,
        requestedAt,
        readAt,
        digest: event.digest,
        found: true,
        status: storable(state?.status ?? null),
      },
    });
  });
  for (const entityId of answer.missing) {
    const event = entity === "order"
      ? orderAbsent({ orderId: entityId, ...mint() })
      : null;
    const digest = event?.digest ?? "";
    items.set(entityId, {
      event,
      changedAt: null,
      observation: {
        entityId,
        requestedAt,
        readAt,
        digest,
        found: false,
        status: null,
      },
    });
  }
  return [...items.values()];
}

/** A status as a column can hold it. */
function storable(status: string | null): Status | null {
  return status === null
    ? null
    : normaliseStatus(status.toWellFormed().replaceAll("\0", ""));
}
