/** The release of an order, and whether it had been so before the ledger went live. */
import { createHmac } from "node:crypto";
import {
  type PurchaseName,
  purchaseOf,
  type StandingOutcome,
  standingOutcome,
} from "../events/event.ts";
import type {
  LoggedRelease,
  NewTransition,
  PurchaseWait,
  ReleaseEntry,
  Status,
  Trust,
} from "../machines/transition.ts";
import {
  decideOrderStatus,
  type ResolveOptions,
} from "../orders/order_status.ts";
import { factsOfOrder, matchExpectations } from "../outcomes/match.ts";
import { outcomeOf, type OutcomeRow } from "../outcomes/outcome_table.ts";
import type { Fact } from "../events/fact.ts";
import { isFinal } from "../machines/machine.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { UserFold } from "../users/user_state.ts";

/** Release of an order, by the facts known so far. */
export interface OrderRelease extends Pick<OutcomeRow, "release" | "reason"> {
  readonly status: Status;
  readonly trust: Trust;
  /** What the order pays for; null unless an expectation matched. */
  readonly purchase: PurchaseName | null;
  readonly expectedAt: string | null;
  /** What a person settled of the order; null where nothing stands. */
  readonly byHand: StandingOutcome | null;
}

/**
 * The release of an order by its row, where there is one to log: the log begins
 * with the first reading of a success, or with what a person did about the order.
 */
export function orderRelease(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions,
): OrderRelease | null {
  if (fold.successReadAt === null && fold.hand === null) return null;
  const { match, expected } = matchExpectations(fold, assets);
  const { release, reason } = outcomeOf(factsOfOrder(fold, match));
  const { status, trust } = decideOrderStatus(fold);
  const matched = match === "matched" ? expected : null;
  return {
    ...{ release, reason, status, trust },
    purchase: matched && purchaseOf(matched),
    expectedAt: matched?.recordedAt ?? null,
    byHand: standingOutcome(fold.hand),
  };
}

/** The purchase that an order matches; null where it matches none. */
export function matchedPurchase(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions,
): PurchaseName | null {
  const { match, expected } = matchExpectations(fold, assets);
  return match === "matched" ? expected && purchaseOf(expected) : null;
}

/** When a ledger was made, and when it went live. */
export interface LedgerTimes {
  readonly createdAt: string;
  /** From when on transitions are sent; null before it has one. */
  readonly goLive: string | null;
}

/**
 * The service's clock may be a second behind ours, and it states whole seconds.
 * Nothing ends within so short a time.
 */
const TOLERANCE_MS = 2000;

/** How long successes that nothing was recorded for are listed, ms. */
const LISTED_MS = 14 * 24 * 3_600_000;

/**
 * Whether what the first reading of an order shows had ended before the ledger
 * went live, and nothing that was recorded in this ledger expects it. A later
 * reading is never historic, and no claim is.
 */
export function isHistoricOrder(
  fact: Fact,
  before: OrderFold | undefined,
  decided: OrderRelease | null,
  { createdAt, goLive }: LedgerTimes,
): boolean {
  const expectedAt = decided?.expectedAt ?? null;
  return goLive !== null && fact.kind === "order_snapshot" &&
    (before?.seenAt ?? null) === null && isFinal(fact.reading.status) &&
    isBefore(fact.reading.createdAt, goLive) &&
    // What was recorded elsewhere and imported, somebody else waited for.
    (expectedAt === null || expectedAt < createdAt);
}

/**
 * Whether a historic order is listed once for a person: a success of the last
 * fourteen days that is nobody's purchase.
 */
export function isListed(
  fact: Fact,
  decided: OrderRelease | null,
  goLive: string,
): boolean {
  if (fact.kind !== "order_snapshot") return false;
  const { status, changedAt, createdAt } = fact.reading;
  const atMs = Date.parse(changedAt || createdAt);
  return status === "success" && decided?.release !== "yes" &&
    atMs >= Date.parse(goLive) - LISTED_MS;
}

/**
 * Whether the first reading of a user shows one who was there before the ledger
 * went live.
 */
export function isHistoricUser(
  fact: Fact,
  before: UserFold | undefined,
  { goLive }: LedgerTimes,
): boolean {
  return goLive !== null && fact.kind === "user_snapshot" &&
    (before?.latest ?? null) === null &&
    isBefore(fact.reading.createdAt ?? "", goLive);
}

function isBefore(createdAt: string, goLive: string): boolean {
  const ms = Date.parse(createdAt);
  const liveMs = Math.floor(Date.parse(goLive) / 1000) * 1000;
  return !Number.isNaN(ms) && ms < liveMs - TOLERANCE_MS;
}

/** Orders that ended, and users known, before a ledger went live. */
export interface Historic {
  /** How many orders: booked, but not sent to handlers or targets. */
  readonly orders: number;
  /** How many users whose transitions were not sent. */
  readonly users: number;
  /** Successes among the orders that a person may want to look at. */
  readonly listed: number;
}

/** Counting walks all of them, so it is not done after each fold. */
const LOOK_EVERY_MS = 60_000;

/**
 * Reports once how many orders and users were withheld because they are from
 * before the ledger went live: when their number has grown, and stands still
 * for a minute.
 */
export function historyReport(
  { read, report, now }: {
    readonly read: () => Promise<Historic>;
    readonly report: (historic: Historic) => void;
    readonly now: () => number;
  },
): () => Promise<void> {
  let lookedAtMs = -Infinity;
  let last = 0;
  let reported: number | null = null;
  return async () => {
    const nowMs = now();
    if (Math.abs(nowMs - lookedAtMs) < LOOK_EVERY_MS) return;
    const historic = await read();
    lookedAtMs = nowMs;
    const before = last;
    last = historic.orders + historic.users;
    reported ??= last;
    if (last !== before || last <= reported) return;
    reported = last;
    report(historic);
  };
}

/** What an event did to an order, and whether what follows is sent to subscribers. */
interface Moved {
  readonly orderId: string;
  readonly position: number;
  readonly recordedAt: string;
  readonly live: boolean;
}

export interface ReleaseChange extends Moved {
  readonly now: OrderRelease;
  /** Whether it had been so before the ledger went live. */
  readonly historic: boolean;
  /** Whether an expectation brought it, and no event of the order. */
  readonly byExpectation: boolean;
}

export interface HandChange extends Moved {
  /** The purchase that it delivered before, and does not any more. */
  readonly gave: PurchaseName | null;
  /** The purchase that it delivers now, and did not before. */
  readonly took: PurchaseName | null;
}

/** What the release log says of one order so far. */
export interface OrderReleases {
  readonly last: LoggedRelease | null;
  readonly entries: Readonly<Partial<Record<ReleaseEntry, number>>>;
  readonly sentUnchecked: boolean;
  readonly sent: boolean;
  /** Whether it has a `yes` that waits for a person and was sent to nobody. */
  readonly owed: boolean;
  /** Digest of the purchase that it took by itself; null while it took none. */
  readonly own: string | null;
  /** The purchase that it says yes for and has not taken; null without. */
  readonly wait: PurchaseWait | null;
}

export const NO_RELEASES: OrderReleases = {
  ...{ last: null, entries: {}, sentUnchecked: false, sent: false },
  ...{ owed: false, own: null, wait: null },
};

export interface Purchase {
  /** The order that took it by its own release; null where none did. */
  readonly own: string | null;
  /** Orders with which a person delivered it, in the order of the log. */
  readonly hands: readonly string[];
}

/** The order that holds a purchase: who delivered it last, else who took it. */
const holderOf = ({ own, hands }: Purchase) => hands.at(-1) ?? own;

export interface KnownReleases {
  readonly orders: ReadonlyMap<string, OrderReleases>;
  readonly purchases: ReadonlyMap<string, Purchase>;
  readonly digestOf: (purchase: PurchaseName) => string;
}

/**
 * Decides what is logged of a batch, in order. Pure.
 *
 * By itself an order takes one purchase in its life: the first that its row says
 * yes for. What a person delivers with an order is taken from its holder, who
 * waits; where that is taken back it returns to the holder before, else to the
 * order whose row has said yes for it longest. Nothing else frees a purchase.
 */
export function logReleases(
  collected: readonly (NewTransition | ReleaseChange | HandChange)[],
  known: KnownReleases,
): LoggedReleases {
  const log = new LoggedReleases(known);
  for (const one of collected) {
    if ("now" in one) log.addChange(one);
    else if ("took" in one) log.addHand(one);
    else log.transitions.push(one);
  }
  return log;
}

/** What a batch of events adds to the log. */
export class LoggedReleases {
  readonly transitions: NewTransition[] = [];
  /** What has been logged of orders then. */
  readonly orders: Map<string, OrderReleases> = new Map();
  /** Purchases of which something changed, by digest. */
  readonly purchases: Map<string, Purchase> = new Map();
  readonly #known: KnownReleases;

  constructor(known: KnownReleases) {
    this.#known = known;
  }

  /** Which purchase an order waits for now, where that changed. */
  get waits(): Map<string, PurchaseWait | null> {
    return new Map(
      [...this.orders].flatMap(([id, { wait }]) =>
        wait === (this.#known.orders.get(id)?.wait ?? null) ? [] : [[id, wait]]
      ),
    );
  }

  addChange(change: ReleaseChange): void {
    const { orderId, position } = change;
    const { release, purchase, byHand } = change.now;
    if (release !== "yes" || purchase === null) {
      this.#setWait(orderId, null);
      return this.#log(change, false);
    }
    const digest = this.#known.digestOf(purchase);
    const { own } = this.#logOf(orderId);
    const holder = holderOf(this.#purchase(digest));
    const isFree = holder === null && own === null && byHand === null;
    if (isFree) this.#takeFor(orderId, digest);
    const holds = isFree ||
      (holder === orderId && (own === null || own === digest));
    const waits = !holds || byHand !== null;
    this.#setWait(orderId, waits ? { orderId, digest, position } : null);
    this.#log(change, !holds);
  }

  /** Purchases move before what the order itself says is logged. */
  addHand(change: HandChange): void {
    const { orderId, gave, took, position } = change;
    if (gave !== null) this.#giveBack(change, this.#known.digestOf(gave));
    if (took === null) return;
    const digest = this.#known.digestOf(took);
    const holder = holderOf(this.#purchase(digest));
    this.#setHands(digest, orderId, [orderId]);
    if (holder === null || holder === orderId) return;
    if (this.#logOf(holder).last?.release !== "yes") return;
    this.#setWait(holder, { orderId: holder, digest, position });
    this.#log(yesOf(holder, change), true);
  }

  #giveBack(change: HandChange, digest: string): void {
    const { orderId } = change;
    const before = holderOf(this.#purchase(digest));
    const holder = holderOf(this.#setHands(digest, orderId, []));
    if (holder !== null) {
      if (holder !== before) this.#restore(holder, digest, change);
      return;
    }
    const next = this.#longestWaiting(digest, orderId);
    if (next === null) return;
    this.#takeFor(next, digest);
    if (next !== orderId) this.#restore(next, digest, change);
  }

  #setHands(digest: string, orderId: string, last: string[]): Purchase {
    const before = this.#purchase(digest);
    const hands = [...before.hands.filter((id) => id !== orderId), ...last];
    const after = { ...before, hands };
    this.purchases.set(digest, after);
    return after;
  }

  /** The yes of an order that waited for nothing but its purchase. */
  #restore(orderId: string, digest: string, change: HandChange): void {
    const { wait, last } = this.#logOf(orderId);
    if (wait?.digest !== digest || last?.reason !== "paid_twice") return;
    this.#setWait(orderId, null);
    this.#log({ ...yesOf(orderId, change), byExpectation: true }, false);
  }

  #takeFor(orderId: string, digest: string): void {
    this.purchases.set(digest, { ...this.#purchase(digest), own: orderId });
    this.orders.set(orderId, { ...this.#logOf(orderId), own: digest });
  }

  /** Who waits for a purchase already keeps its place. */
  #setWait(orderId: string, wait: PurchaseWait | null): void {
    const before = this.#logOf(orderId);
    if (before.wait?.digest === wait?.digest) return;
    this.orders.set(orderId, { ...before, wait });
  }

  /** Of orders that have taken no purchase, and that no person has settled. */
  #longestWaiting(digest: string, takenBack: string): string | null {
    const ids = new Set([...this.#known.orders.keys(), ...this.orders.keys()]);
    const [first] = [...ids].flatMap((id) => {
      const { own, last, wait } = this.#logOf(id);
      const isFree = own === null &&
        (id === takenBack || last?.release !== "settled");
      return wait?.digest === digest && isFree ? [wait] : [];
    }).sort((a, b) =>
      a.position - b.position || (a.orderId < b.orderId ? -1 : 1)
    );
    return first?.orderId ?? null;
  }

  #log(change: ReleaseChange, isTaken: boolean): void {
    const before = this.#logOf(change.orderId);
    const entry = nextRelease(before, change, isTaken);
    if (entry === null) return;
    this.transitions.push(entry);
    this.orders.set(change.orderId, addRelease(before, entry));
  }

  #logOf(orderId: string): OrderReleases {
    return this.orders.get(orderId) ?? this.#known.orders.get(orderId) ??
      NO_RELEASES;
  }

  #purchase(digest: string): Purchase {
    return this.purchases.get(digest) ?? this.#known.purchases.get(digest) ??
      { own: null, hands: [] };
  }
}

/** The yes of an order by its row, at the position of what a person did. */
function yesOf(
  orderId: string,
  { position, recordedAt, live }: Moved,
): ReleaseChange {
  return {
    ...{ orderId, position, recordedAt, live },
    // Only an order that the service shows as a success says yes.
    now: {
      ...{ release: "yes", reason: "session_matched", status: "success" },
      ...{ trust: "confirmed", purchase: null, expectedAt: null, byHand: null },
    },
    ...{ historic: false, byExpectation: false },
  };
}

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
 */
function nextRelease(
  before: OrderReleases,
  { orderId, now, position, recordedAt, live, historic, byExpectation }:
    ReleaseChange,
  isTaken: boolean,
): NewTransition | null {
  const { last, entries } = before;
  const { release, reason } = effectiveRelease(now, isTaken);
  if (last?.release === release && last.reason === reason) return null;
  const wasYes = entries.yes !== undefined;
  const entered = release === "yes" && wasYes ? "restored" : release;
  const isLate = byExpectation && last !== null && !before.sent;
  const isOwed = entered === "restored" && before.owed;
  const isImported = entered === "yes" && !live && !historic && before.sent;
  const takesBack = release === "settled"
    ? wasYes && reason !== "delivered"
    : release !== "yes" && (wasYes || now.byHand === "delivered");
  return {
    ...{ entity: "order", machine: "release", id: orderId },
    ...{ trust: now.trust, status: now.status, previous: null },
    entry: (entries[entered] ?? 0) + 1,
    reverses: takesBack ? ["yes"] : [],
    logged: { entered, release, reason },
    after: entered === "yes" && before.sentUnchecked ? ["unchecked"] : [],
    ...{ position, recordedAt, historic },
    live: live && !isLate && !isOwed,
    withheld: (live && isLate) || isOwed || isImported,
  };
}

/** The release of an order, its purchase and what a person did considered. */
function effectiveRelease(
  { release, reason, byHand }: OrderRelease,
  isTaken: boolean,
): Pick<LoggedRelease, "release" | "reason"> {
  return byHand !== null && release !== "no"
    ? { release: "settled", reason: byHand }
    : release === "yes" && isTaken
    ? { release: "wait", reason: "paid_twice" }
    : { release, reason };
}

export function addRelease(
  before: OrderReleases,
  { logged, entry, live, withheld }: NewTransition,
): OrderReleases {
  if (logged === null) return before;
  const { entered } = logged;
  return {
    ...before,
    last: logged,
    entries: { ...before.entries, [entered]: entry },
    sentUnchecked: before.sentUnchecked || (live && entered === "unchecked"),
    sent: before.sent || live,
    owed: entered === "yes" ? withheld && !live : before.owed,
  };
}

/**
 * The keyed digest by which a purchase is recognised, 64 hex digits. A person who was
 * erased cannot be read from it, and the purchase stays taken.
 */
export function purchaseDigest(
  key: Uint8Array,
  { kind, name }: PurchaseName,
): string {
  return createHmac("sha256", key).update(`${kind}\0${name}`).digest("hex");
}
