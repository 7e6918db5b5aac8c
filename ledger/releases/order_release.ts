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
  const matched = match === "matched" ? expected : null;
  return {
    ...{ release, reason, ...decideOrderStatus(fold) },
    purchase: matched && purchaseOf(matched),
    expectedAt: matched?.recordedAt ?? null,
    byHand: standingOutcome(fold.hand),
  };
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

const NOBODYS: Purchase = { own: null, hands: [] };

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
  const transitions: NewTransition[] = [];
  const orders = new Map<string, OrderReleases>();
  const purchases = new Map<string, Purchase>();
  const logOf = (id: string) =>
    orders.get(id) ?? known.orders.get(id) ?? NO_RELEASES;
  const heldOf = (digest: string) =>
    purchases.get(digest) ?? known.purchases.get(digest) ?? NOBODYS;
  const change = (id: string, to: Partial<OrderReleases>) =>
    void orders.set(id, { ...logOf(id), ...to });

  const log = (one: ReleaseChange, isTaken: boolean) => {
    const entry = nextRelease(logOf(one.orderId), one, isTaken);
    if (entry === null) return;
    transitions.push(entry);
    change(one.orderId, addRelease(logOf(one.orderId), entry));
  };
  const takeFor = (own: string, digest: string) => {
    purchases.set(digest, { ...heldOf(digest), own });
    change(own, { own: digest });
  };
  const setHands = (digest: string, id: string, last: readonly string[]) => {
    const before = heldOf(digest);
    const hands = [...before.hands.filter((one) => one !== id), ...last];
    purchases.set(digest, { ...before, hands });
    return [holderOf(before), holderOf({ ...before, hands })] as const;
  };
  /** Who waits for a purchase already keeps its place. */
  const setWait = (id: string, wait: PurchaseWait | null) => {
    if (logOf(id).wait?.digest !== wait?.digest) change(id, { wait });
  };
  /** Of orders that have taken no purchase, and that no person has settled. */
  const longestWaiting = (digest: string, takenBack: string) =>
    [...new Set([...known.orders.keys(), ...orders.keys()])].flatMap((id) => {
      const { own, last, wait } = logOf(id);
      const isFree = own === null &&
        (id === takenBack || last?.release !== "settled");
      return wait?.digest === digest && isFree ? [wait] : [];
    }).sort((a, b) =>
      a.position - b.position || (a.orderId < b.orderId ? -1 : 1)
    ).at(0)?.orderId;

  const addChange = (one: ReleaseChange) => {
    const { orderId, position, now: { release, purchase, byHand } } = one;
    if (release !== "yes" || purchase === null) {
      setWait(orderId, null);
      return log(one, false);
    }
    const digest = known.digestOf(purchase);
    const { own } = logOf(orderId);
    const holder = holderOf(heldOf(digest));
    const isFree = holder === null && own === null && byHand === null;
    if (isFree) takeFor(orderId, digest);
    const holds = isFree ||
      (holder === orderId && (own === null || own === digest));
    const waits = !holds || byHand !== null;
    setWait(orderId, waits ? { orderId, digest, position } : null);
    log(one, !holds);
  };
  const giveBack = (one: HandChange, gave: PurchaseName) => {
    const digest = known.digestOf(gave);
    const [before, holder] = setHands(digest, one.orderId, []);
    const next = holder ?? longestWaiting(digest, one.orderId);
    if (next === undefined) return;
    if (holder === null) takeFor(next, digest);
    // Of the order itself what its row says is logged afterwards.
    if (next === before || next === one.orderId) return;
    const { wait, last } = logOf(next);
    // Its yes waited for nothing but its purchase.
    if (wait?.digest !== digest || last?.reason !== "paid_twice") return;
    setWait(next, null);
    log({ ...yesOf(next, one), byExpectation: true }, false);
  };
  const take = (one: HandChange, took: PurchaseName) => {
    const { orderId, position } = one;
    const digest = known.digestOf(took);
    const [holder] = setHands(digest, orderId, [orderId]);
    if (holder === null || holder === orderId) return;
    if (logOf(holder).last?.release !== "yes") return;
    setWait(holder, { orderId: holder, digest, position });
    log(yesOf(holder, one), true);
  };

  for (const one of collected) {
    if ("now" in one) addChange(one);
    else if ("took" in one) {
      // Purchases move before what the order itself says is logged.
      if (one.gave !== null) giveBack(one, one.gave);
      if (one.took !== null) take(one, one.took);
    } else transitions.push(one);
  }
  const waits = new Map(
    [...orders].flatMap(([id, { wait }]) =>
      wait === (known.orders.get(id)?.wait ?? null) ? [] : [[id, wait]]
    ),
  );
  return { transitions, orders, purchases, waits };
}

/** What a batch of events adds to the log. */
export interface LoggedReleases {
  readonly transitions: readonly NewTransition[];
  /** What has been logged of orders then. */
  readonly orders: ReadonlyMap<string, OrderReleases>;
  /** Purchases of which something changed, by digest. */
  readonly purchases: ReadonlyMap<string, Purchase>;
  /** Which purchase an order waits for now, where that changed. */
  readonly waits: ReadonlyMap<string, PurchaseWait | null>;
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
