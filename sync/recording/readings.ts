import {
  claimState,
  compareTimes,
  type CountingReading,
  effectiveReadAt,
  effectiveTime,
  type Entity,
  isFinal,
  type NewEvent,
  normaliseStatus,
  type Observation,
  type ObservationsRead,
  type ObservedChange,
  observedChange,
  orderRank,
  type Presence,
  record,
  type Status,
  type StatusFacts,
} from "../../ledger/for_sync.ts";
import type { Order } from "../../core/wire/order.ts";

/** An answer of the service about some orders or users. */
export interface ServiceAnswer {
  /** Exact JSON text of each order or user in it. */
  readonly sources: readonly string[];
  /** Status and `changed_at` of each, as sent; of orders only. */
  readonly states: readonly Partial<Pick<Order, "status" | "changed_at">>[];
  /** Ids requested, and not there after an exhausted walk. */
  readonly missing: readonly string[];
  /** When the service answered, UTC ISO 8601. */
  readonly readAt: string;
  /** When it was requested, by our clock, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
}

/** What an answer says about one order or user. */
export interface Reading {
  readonly observation: Observation;
  /** The reading as an event; null for a user that is not there. */
  readonly event: NewEvent | null;
  /** `changed_at` as sent; of orders only. */
  readonly changedAt: string | null;
}

/** Takes an answer apart. Rows without an id are left out. */
export function readingsOf(
  entity: Entity,
  { sources, states, missing, readAt, requestedAtMs }: ServiceAnswer,
  { now, randomBytes }: {
    readonly now: () => number;
    readonly randomBytes: (length: number) => Uint8Array;
  },
): Reading[] {
  const requestedAt = new Date(requestedAtMs).toISOString();
  const mint = () => ({
    readAt,
    recordedAt: new Date(now()).toISOString(),
    salt: randomBytes(16),
  });
  const readings = new Map<string, Reading>();
  const add = (
    entityId: string,
    event: NewEvent | null,
    found: boolean,
    { status = null, changed_at = null }: ServiceAnswer["states"][number] = {},
  ) =>
    readings.set(entityId, {
      event,
      changedAt: changed_at,
      observation: {
        ...{ entityId, requestedAt, readAt, found, status: storable(status) },
        digest: event?.digest ?? "",
      },
    });
  for (const [at, source] of sources.entries()) {
    const event = record(`${entity}_snapshot`, source, mint());
    const id = entity === "order" ? event.orderId : event.userId;
    if (id !== null) add(id, event, true, states[at]);
  }
  for (const id of missing) {
    const isOrder = entity === "order";
    add(
      id,
      isOrder ? record("order_absent", { order_id: id }, mint()) : null,
      false,
    );
  }
  return [...readings.values()];
}

/** A status as a column can hold it. */
function storable(status: string | null): Status | null {
  return status === null
    ? null
    : normaliseStatus(status.toWellFormed().replaceAll("\0", ""));
}

/** Age beyond which a change says nothing about recent webhooks, in ms. */
const TOO_OLD_MS = 24 * 3_600_000;

/**
 * Finds the readings that become events: readings that differ from the last one,
 * and readings that decide what the last one left open.
 */
export function changedReadings(
  readings: readonly Reading[],
  known: ObservationsRead["known"],
): Reading[] {
  return readings.filter(({ event, observation }) => {
    const { entityId, digest, found } = observation;
    const before = known.get(entityId);
    if (event === null || before === undefined) return event !== null;
    const { latest, counting, presence, isUnsettled, isErased } = before;
    const same = latest?.digest === digest && latest.found === found;
    const settles = !isErased &&
      (isUnsettled ||
        (found && counting !== null && overtakes(event, counting)));
    const turns = presence !== null && !(found && isErased) &&
      turnsPresence(event, found, presence);
    return !same || settles || turns;
  });
}

/**
 * Whether a reading would replace the one that counts and says more than it:
 * something else, or a change that is no longer dated ahead.
 */
function overtakes(event: NewEvent, other: CountingReading): boolean {
  const readAt = effectiveReadAt(event.readAt, event.recordedAt);
  const changed = effectiveTime(event.occurredAt ?? "", readAt);
  const changedAt = event.kind === "user_snapshot" ? "" : changed.counts;
  const order = compareTimes(changedAt, other.changedAt);
  if (other.digest === event.digest) {
    return order > 0 && changed.stated === null;
  }
  const read = compareTimes(readAt, other.readAt);
  // One that is dated ahead goes by when it was read alone.
  if (other.isAhead || changed.stated !== null) return read > 0;
  return order > 0 || (order === 0 && read > 0);
}

/** Whether a reading changes whether an order counts as absent. */
function turnsPresence(
  event: NewEvent,
  found: boolean,
  { absentAt, seenAt }: Presence,
): boolean {
  const isAbsent = seenAt === null || compareTimes(absentAt, seenAt) > 0;
  if (isAbsent === !found) return false;
  const readAt = effectiveReadAt(event.readAt, event.recordedAt);
  return compareTimes(readAt, found ? absentAt : seenAt ?? "") > 0;
}

/**
 * Finds the changes of status that readings of orders show and that webhooks
 * announce.
 */
export function observedChanges(
  readings: readonly Reading[],
  known: ObservationsRead["known"],
): (ObservedChange & { readonly orderId: string })[] {
  return readings.flatMap(({ observation, changedAt }) => {
    const { status, requestedAt, readAt, entityId } = observation;
    if (status === null) return [];
    const change = observedChange({
      before: known.get(entityId)?.latest ?? null,
      status,
      changedAt,
      readAt,
      requestedAt,
    });
    if (change === null) return [];
    const ageMs = Date.parse(requestedAt) - Date.parse(change.movedAt);
    return ageMs > TOO_OLD_MS ? [] : [{ ...change, orderId: entityId }];
  });
}

/** How long the service may disagree before a claim is contradicted. */
export const CONTRADICTED_AFTER_MS = 10 * 60_000;

/** What the service said about an order, and when. */
export interface Answer {
  /** Status the service showed; null when it does not know the order. */
  readonly status: Status | null;
  /**
   * When it was requested, by the clock that stamps webhooks: the service's own
   * clock may be minutes off.
   */
  readonly requestedAtMs: number;
}

/**
 * Finds the claims that an answer contradicts, among those that still count, and when
 * each was last received.
 *
 * The service agrees with a claim by showing that status, once, at any time. It
 * also agrees with a status on the way once it has moved past it. It never
 * agrees with a final status that it does not show.
 */
export function contradictions(
  facts: StatusFacts,
  answer: Answer,
  contradictedAfterMs: number = CONTRADICTED_AFTER_MS,
): { readonly status: Status; readonly upTo: string }[] {
  return facts.claims
    .filter((claim) =>
      claimState(facts, claim) === "counted" &&
      answer.requestedAtMs - Date.parse(claim.lastAt) >= contradictedAfterMs &&
      !agrees(claim.status, answer.status)
    )
    .map(({ status, lastAt }) => ({ status, upTo: lastAt }));
}

function agrees(claimed: Status, shown: Status | null): boolean {
  if (shown === claimed) return true;
  if (shown === null || isFinal(claimed)) return false;
  return orderRank(shown) > orderRank(claimed);
}
