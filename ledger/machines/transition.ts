import { normaliseTime } from "../../core/time/service_time.ts";
import type { OrderStatus } from "../../core/wire/objects.ts";

/** A change of status that the service showed, and that a webhook announces. */
export interface ObservedChange {
  /** The status it changed to. */
  readonly status: Status;
  /** When it changed, by our clock, UTC ISO 8601 with milliseconds. */
  readonly movedAt: string;
  /** When it was requested and seen, by our clock, UTC ISO 8601 with milliseconds. */
  readonly seenAt: string;
}

/** A change the service showed, and whether its webhook ever came. */
export interface WatchedChange extends ObservedChange {
  /** The order. */
  readonly orderId: string;
  /** Whether a webhook announced it. */
  readonly announced: boolean;
}

/** A reading of an order, beside the one before it. */
interface TwoReadings {
  /** The reading before; null when this is the first. */
  readonly before: {
    /** Status then; null when the service did not know the order. */
    readonly status: Status | null;
    /** When it was requested, by our clock, UTC ISO 8601. */
    readonly requestedAt: string;
  } | null;
  /** Status now. */
  readonly status: Status;
  /** `changed_at` as sent; the service's clock. */
  readonly changedAt: string | null;
  /** When the service answered; the service's clock where it states it. */
  readonly readAt: string;
  /** When it was requested, by our clock, UTC ISO 8601 with milliseconds. */
  readonly requestedAt: string;
}

/**
 * Statuses that a webhook announces, and the types that claim them. `pending` is
 * left out: its webhook follows the first confirmation, long after the status.
 */
export const ANNOUNCED: Readonly<Record<string, readonly string[]>> = {
  progress: ["payment_started"],
  success: ["order_complete"],
  failed: ["order_failed"],
  cancelled: ["order_cancelled", "order_canceled"],
};

/**
 * Finds out whether a reading shows a change, and when it happened by our
 * clock.
 *
 * The age of the change is taken between two times of the service, so a clock
 * that is minutes off does no harm; and it cannot have happened before the
 * reading that did not show it.
 */
export function observedChange(readings: TwoReadings): ObservedChange | null {
  const { before, status, requestedAt: seenAt } = readings;
  if (!Object.hasOwn(ANNOUNCED, status) || before?.status === status) {
    return null;
  }
  const seenMs = Date.parse(seenAt);
  const changedAt = normaliseTime(readings.changedAt);
  const ageMs = changedAt === null
    ? 0
    : Math.max(0, Date.parse(readings.readAt) - Date.parse(changedAt));
  const earliestMs = before ? Date.parse(before.requestedAt) : -Infinity;
  // The earlier request lies ahead where our clock was set back since.
  const movedMs = Math.min(seenMs, Math.max(earliestMs, seenMs - (ageMs || 0)));
  return { status, movedAt: new Date(movedMs).toISOString(), seenAt };
}

/**
 * A state machine: that of an order, the decision to release its goods, what the
 * chain shows of its transaction, or one of the three of a user.
 */
export type MachineName =
  | "order"
  | "release"
  | "witness"
  | "lkyc"
  | "fkyc"
  | "ban";

/** What the release of an order can enter; see {@linkcode ReleaseEntry}. */
export const RELEASE_ENTRIES = [
  "yes",
  "wait",
  "no",
  "unchecked",
  "restored",
  "settled",
] as const;

/**
 * What the release of an order can enter: a decision, or `restored`, which is
 * `yes` again after it was withdrawn.
 */
export type ReleaseEntry = (typeof RELEASE_ENTRIES)[number];

/** What an entry of the release log says of its order. */
export interface LoggedRelease {
  /** What was entered, as the key and the type of a webhook name it. */
  readonly entered: ReleaseEntry;
  /** Whether the goods could be released when it was logged. */
  readonly release: Exclude<ReleaseEntry, "restored">;
  /** Why, one code: `session_matched`, `paid_twice`, `final_changed` etc. */
  readonly reason: string;
}

/** A status and its trust, as they were visible. */
export interface VisibleStatus {
  /** The status. */
  readonly status: string;
  /** `claimed` or `confirmed`. */
  readonly trust: Trust;
}

/**
 * An order, or a machine of a user, entered a status with a trust; or the
 * release of an order changed. Of the status of an order, and of all that is
 * claimed, only the first entry is logged. A user's machines may enter a
 * confirmed status again: each time is logged, and so is what the chain shows.
 * A release is logged each time it or its reason changes, but `yes` once an
 * order.
 */
export interface Transition {
  /**
   * Permanent id of the transition, for handlers to remember what they did:
   * `order:<id>:confirmed.success`, `order:<id>:release.yes`,
   * `order:<id>:witness.delivered`,
   * `user:<id>:fkyc.confirmed.retry`, and from the second entry on
   * `user:<id>:fkyc.confirmed.retry#2`.
   */
  readonly key: string;
  /** Whether it is of an order or a user. */
  readonly entity: Entity;
  /** The machine that moved. */
  readonly machine: MachineName;
  /** Order or user identifier. */
  readonly id: string;
  /** `claimed` or `confirmed`; of a release that of the order's status. */
  readonly trust: string;
  /** The status entered; of a release the status that the order showed. */
  readonly status: string;
  /** Which entry into this status with this trust it is, from 1. */
  readonly entry: number;
  /**
   * What was visible before the event; null when nothing was, and of a release.
   */
  readonly previous: VisibleStatus | null;
  /**
   * What is taken back: other final statuses that readings folded earlier had
   * shown; of a release `yes`, where it was logged before.
   */
  readonly reverses: readonly string[];
  /** What a release was logged as; null of other machines. */
  readonly logged: LoggedRelease | null;
  /**
   * `unchecked` when a release enters `yes` after subscribers received
   * `unchecked`: a handler that ships on both must not ship again. Otherwise
   * empty.
   */
  readonly after: readonly string[];
  /** Position of the event that led there. */
  readonly position: number;
  /** When the ledger learnt that event, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Place in the log of transitions; ascending, gaps are legal. */
  readonly seq: number;
  /** False for imported history. */
  readonly live: boolean;
}

/**
 * A transition that has no place in the log yet. Its entry number is counted
 * when it is written; that of a release is known.
 */
export interface NewTransition extends Omit<Transition, "key" | "seq"> {
  /**
   * Whether it was sent to nobody, so that a person has to decide about it.
   */
  readonly withheld: boolean;
  /** Whether it is not sent because it was so before the ledger went live. */
  readonly historic: boolean;
}

/**
 * What names a transition. That of a release has the trust `release`, and what
 * was entered as its status; that of the chain the trust `witness`, and the
 * verdict.
 */
export type TransitionName = Pick<
  Transition,
  "entity" | "machine" | "id" | "trust" | "status" | "entry"
>;

/** What a transition is called, within its order or user, by what was logged. */
export function transitionName(
  { entity, machine, trust, status, logged }: Pick<
    Transition,
    "entity" | "machine" | "trust" | "status" | "logged"
  >,
): Pick<Transition, "entity" | "machine" | "trust" | "status"> {
  return machine === "release" || machine === "witness"
    ? { entity, machine, trust: machine, status: logged?.entered ?? status }
    : { entity, machine, trust, status };
}

/** Names a transition. Two transitions never have the same key. */
export function transitionKey(
  { entity, machine, id, trust, status, entry }: TransitionName,
): string {
  const path = entity === "order" ? trust : `${machine}.${trust}`;
  // A status of the service may itself end in `#2`.
  const counted = entry > 1 || (entity === "user" && status.includes("#"));
  return `${entity}:${id}:${path}.${status}${counted ? `#${entry}` : ""}`;
}

/**
 * Reads a key. Ids and statuses may hold any text, so there may be several
 * ways to read it.
 */
export function parseTransitionKey(key: string): TransitionName[] {
  const [, entity, rest = ""] = /^(order|user):(.*)$/s.exec(key) ?? [];
  if (entity !== "order" && entity !== "user") return [];
  const path = entity === "order"
    ? /:()(claimed|confirmed|release|witness)\./g
    : /:(lkyc|fkyc|ban)\.(claimed|confirmed)\./g;
  return [...rest.matchAll(path)].map((match) => {
    const machine = match[2] === "release" || match[2] === "witness"
      ? match[2]
      : (match[1] || "order") as MachineName;
    const text = rest.slice(match.index + match[0].length);
    const [, status = text, entry = "1"] = machine === "order"
      ? []
      : /^(.*)#(\d+)$/s.exec(text) ?? [];
    const id = rest.slice(0, match.index);
    const trust = match[2] ?? "";
    return { entity, machine, id, trust, status, entry: Number(entry) };
  });
}

/** Where a status comes from: a webhook claims, the Data API confirms. */
export type Trust = "claimed" | "confirmed";

/**
 * The status of an order: the documented ones, or one not known here, which
 * ranks above all and is never final.
 */
export type Status = OrderStatus | (string & Record<never, never>);

/** Both kinds of entity, in the order in which they are read. */
export const ENTITIES = ["order", "user"] as const;

/** What the service identifies and the ledger keeps a state of. */
export type Entity = (typeof ENTITIES)[number];

/** An order whose row says yes for a purchase that it has not taken itself. */
export interface PurchaseWait {
  /** The order that waits. */
  readonly orderId: string;
  /** Digest of the purchase. */
  readonly digest: string;
  /** Position from which it waits: the first gets the purchase. */
  readonly position: number;
}
