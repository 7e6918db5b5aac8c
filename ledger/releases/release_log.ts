import type {
  LoggedRelease,
  NewTransition,
  PurchaseWait,
  ReleaseEntry,
} from "../machines/transition.ts";
import type { PurchaseName } from "../events/expectation.ts";
import type { OrderRelease } from "./order_release.ts";
import { hex } from "@scure/base";
import { createHmac } from "node:crypto";

/** The release of an order as an event left it. */
export interface ReleaseChange {
  /** The order. */
  readonly orderId: string;
  /** Whether it had no decision before, so that nothing was logged. */
  readonly isFirst: boolean;
  /** The decision now. */
  readonly now: OrderRelease;
  /** Position of the event. */
  readonly position: number;
  /** When the ledger learnt the event, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Whether it is sent to subscribers. */
  readonly live: boolean;
  /** Whether it had been so before the ledger went live. */
  readonly historic: boolean;
  /** Whether an expectation brought it, and no event of the order. */
  readonly byExpectation: boolean;
}

/** Which purchases a person moved with what was recorded of an order. */
export interface HandChange {
  /** The order. */
  readonly orderId: string;
  /** The purchase that it delivered before, and does not any more. */
  readonly gave: PurchaseName | null;
  /** The purchase that it delivers now, and did not before. */
  readonly took: PurchaseName | null;
  /** Position of the event. */
  readonly position: number;
  /** When the ledger learnt the event, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Whether what follows for other orders is sent to subscribers. */
  readonly live: boolean;
}

/** What the release log says of one order so far. */
export interface OrderReleases {
  /** The last entry; null before the first. */
  readonly last: LoggedRelease | null;
  /** How often each state was entered. */
  readonly entries: Readonly<Partial<Record<ReleaseEntry, number>>>;
  /** Whether subscribers received `unchecked`. */
  readonly sentUnchecked: boolean;
  /** Whether subscribers received anything. */
  readonly sent: boolean;
  /** Whether it has a `yes` that waits for a person and was sent to nobody. */
  readonly owed: boolean;
  /** Digest of the purchase that it took by itself; null while it took none. */
  readonly own: string | null;
  /** The purchase that it says yes for and has not taken; null without. */
  readonly wait: PurchaseWait | null;
}

/** An order of which nothing was logged. */
export const NO_RELEASES: OrderReleases = {
  last: null,
  entries: {},
  sentUnchecked: false,
  sent: false,
  owed: false,
  own: null,
  wait: null,
};

/**
 * Decides what the release log says next of an order. Pure.
 *
 * - `yes` once: later it is `restored`.
 * - An order whose purchase another order has taken waits, `paid_twice`.
 * - What a person has settled is `settled`, unless the row says `no`. After a
 *   `yes`, goods that were delivered take nothing back; the rest does.
 * - The same release for the same reason is logged once in a row.
 * - Whatever else follows a `yes`, or goods that a person delivered, and is no
 *   `yes` takes it back.
 * - What an expectation alone changes of an order of which nothing was sent
 *   is not sent either: it is withheld for a person. So is `restored` where the
 *   `yes` was withheld, because whoever ships on `yes` has not received one; and a
 *   first `yes` that an import brings to an order of which something was sent.
 *
 * @param before What was logged of the order.
 * @param change What an event made of it.
 * @param taken Whether another order has taken its purchase.
 * @returns The entry; null when there is nothing to say.
 */
export function nextRelease(
  before: OrderReleases,
  { orderId, now, position, recordedAt, live, historic, byExpectation }:
    ReleaseChange,
  taken: boolean,
): NewTransition | null {
  const { last, entries } = before;
  const { release, reason } = effectiveRelease(now, taken);
  if (last?.release === release && last.reason === reason) return null;
  const wasYes = entries.yes !== undefined;
  const entered = release === "yes" && wasYes ? "restored" : release;
  const isLate = byExpectation && last !== null && !before.sent;
  const isOwed = entered === "restored" && before.owed;
  const isImported = entered === "yes" && !live && !historic && before.sent;
  return {
    entity: "order",
    machine: "release",
    id: orderId,
    trust: now.trust,
    status: now.status,
    entry: (entries[entered] ?? 0) + 1,
    previous: null,
    reverses: takesBack(release, reason, wasYes, now) ? ["yes"] : [],
    logged: { entered, release, reason },
    after: entered === "yes" && before.sentUnchecked ? ["unchecked"] : [],
    position,
    recordedAt,
    live: live && !isLate && !isOwed,
    withheld: (live && isLate) || isOwed || isImported,
    historic,
  };
}

/** The release of an order, its purchase and what a person did considered. */
function effectiveRelease(
  { release, reason, byHand }: OrderRelease,
  taken: boolean,
): Pick<LoggedRelease, "release" | "reason"> {
  if (byHand !== null && release !== "no") {
    return { release: "settled", reason: byHand };
  }
  return release === "yes" && taken
    ? { release: "wait", reason: "paid_twice" }
    : { release, reason };
}

function takesBack(
  release: LoggedRelease["release"],
  reason: string,
  wasYes: boolean,
  { byHand }: OrderRelease,
): boolean {
  if (release === "yes") return false;
  return release === "settled"
    ? wasYes && reason !== "delivered"
    : wasYes || byHand === "delivered";
}

/**
 * Adds an entry to what was logged of its order.
 *
 * @param before What was logged before.
 * @param entry What {@linkcode nextRelease} decided.
 */
export function addRelease(
  before: OrderReleases,
  { logged, entry, live, withheld }: Pick<
    NewTransition,
    "logged" | "entry" | "live" | "withheld"
  >,
): OrderReleases {
  if (logged === null) return before;
  return {
    ...before,
    last: logged,
    entries: { ...before.entries, [logged.entered]: entry },
    sentUnchecked: before.sentUnchecked ||
      (live && logged.entered === "unchecked"),
    sent: before.sent || live,
    owed: logged.entered === "yes" ? withheld && !live : before.owed,
  };
}

/**
 * The keyed digest by which a purchase is recognised. A person who was erased
 * cannot be read from it, and the purchase stays taken.
 *
 * @param key The ledger's key for purchases.
 * @param purchase What an order pays for.
 * @returns 64 hex digits.
 */
export function purchaseDigest(
  key: Uint8Array,
  { kind, name }: PurchaseName,
): string {
  const hmac = createHmac("sha256", key).update(`${kind}\0${name}`).digest();
  return hex.encode(new Uint8Array(hmac));
}
