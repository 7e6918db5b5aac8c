import type { Transition } from "../../../machines/transition.ts";
import type { Driver } from "../../driver/driver.ts";
import { transitionOf, TRANSITIONS } from "../transitions.ts";
import {
  queuedColumns,
  type QueuedTransition,
  queuedTransitionOf,
} from "./queued_transitions.ts";
import {
  placeOf,
  selectPlace,
  type SubscriptionPlace,
} from "./subscriptions.ts";

/** Which deliveries to read. */
export interface DeliveriesQuery {
  /** Name of the subscription. */
  readonly name: string;
  /** The time, UTC ISO 8601. */
  readonly now: string;
  /** What is due later than this was queued by a clock that was ahead. */
  readonly latest: string;
  /** Most of the queue, and most of the log. */
  readonly limits: { readonly due: number; readonly log: number };
  /** Read the log after this place; null for the checkpoint. */
  readonly after: number | null;
}

/** What a subscription may deliver. */
export interface Deliveries {
  /** Where the subscription is. */
  readonly place: SubscriptionPlace;
  /** What is due in the queue, by order of the log. */
  readonly due: readonly QueuedTransition[];
  /** What comes next in the log. */
  readonly log: readonly Transition[];
  /** All that is queued of the orders and users that those are of. */
  readonly queued: ReadonlyMap<string, readonly QueuedTransition[]>;
}

/** What names the order or user of a transition: `order:<id>`. */
export function entityKey(
  { entity, id }: Pick<Transition, "entity" | "id">,
): string {
  return `${entity}:${id}`;
}

const selectDueWhere = (due: string): string =>
  `SELECT * FROM (SELECT ${queuedColumns} FROM queued_transitions AS l
    WHERE l.subscription = ?1 AND l.state = 'retrying' AND ${due}
    ORDER BY l.due_at, l.seq LIMIT ?3)`;

// Two reads of one index: with OR, all that waits would be read and sorted.
const selectDue = `${selectDueWhere("l.due_at <= ?2")}
  UNION ALL ${selectDueWhere("l.due_at > ?4")}`;

const selectLog = `SELECT ${TRANSITIONS.list()} FROM transitions WHERE seq >
    coalesce(?5, (SELECT seq FROM subscriptions WHERE name = ?1))
  ORDER BY seq LIMIT ?6`;

const selectQueuedOfBoth = `WITH both AS (
    SELECT entity, entity_id FROM (${selectDue})
    UNION SELECT entity, entity_id FROM (${selectLog})
  )
  SELECT ${queuedColumns} FROM both CROSS JOIN queued_transitions AS l
    ON l.subscription = ?1 AND l.entity = both.entity
      AND l.entity_id = both.entity_id
  ORDER BY l.seq`;

/**
 * Reads what is due in the queue and what comes next in the log, together with
 * all that is queued of the same orders and users.
 *
 * @param query Which deliveries.
 * @param mode `write` reads from the primary.
 */
export async function readDeliveries(
  driver: Driver,
  { name, now, latest, limits, after }: DeliveriesQuery,
  mode: "read" | "write",
): Promise<Deliveries> {
  const [place, due, log, queued] = await driver.batch([
    selectPlace(name),
    { sql: selectDue, args: [name, now, limits.due, latest] },
    {
      sql: selectLog.replace("?5", "?2").replace("?6", "?3"),
      args: [name, after, limits.log],
    },
    {
      sql: selectQueuedOfBoth,
      args: [name, now, limits.due, latest, after, limits.log],
    },
  ], mode);
  const byEntity = new Map<string, QueuedTransition[]>();
  for (const row of queued?.rows ?? []) {
    const one = queuedTransitionOf(row);
    const key = entityKey(one.transition);
    const others = byEntity.get(key);
    if (others === undefined) byEntity.set(key, [one]);
    else others.push(one);
  }
  return {
    place: placeOf(place),
    due: (due?.rows.map(queuedTransitionOf) ?? [])
      .sort((a, b) => a.transition.seq - b.transition.seq),
    log: log?.rows.map(transitionOf) ?? [],
    queued: byEntity,
  };
}
