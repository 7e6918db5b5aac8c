import type { Fact } from "../events/fact.ts";
import { isFinal } from "../machines/order_machine.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { UserFold } from "../users/user_fold.ts";
import type { OrderRelease } from "./order_release.ts";

/** When a ledger was made, and when it went live. */
export interface LedgerTimes {
  /** When it was made, UTC ISO 8601. */
  readonly createdAt: string;
  /**
   * From when on transitions are sent, UTC ISO 8601; null before it has one.
   */
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
 *
 * @param fact The event.
 * @param before The order before it; undefined when it is new.
 * @param decided Its release after the event; null while there is none.
 * @param times When the ledger went live.
 */
export function isHistoricOrder(
  fact: Fact,
  before: OrderFold | undefined,
  decided: OrderRelease | null,
  { createdAt, goLive }: LedgerTimes,
): boolean {
  if (goLive === null || fact.kind !== "order_snapshot") return false;
  if (before !== undefined && before.seenAt !== null) return false;
  const { reading } = fact;
  if (!isFinal(reading.status) || !isBefore(reading.createdAt, goLive)) {
    return false;
  }
  // What was recorded elsewhere and imported, somebody else waited for.
  const expectedAt = decided?.expectedAt ?? null;
  return expectedAt === null || expectedAt < createdAt;
}

/**
 * Whether a historic order is listed once for a person: a success of the last
 * fourteen days that is nobody's purchase.
 *
 * @param fact Its first reading.
 * @param decided Its release.
 * @param goLive When the ledger went live.
 */
export function isListed(
  fact: Fact,
  decided: OrderRelease | null,
  goLive: string,
): boolean {
  if (fact.kind !== "order_snapshot" || decided?.release === "yes") {
    return false;
  }
  const { status, changedAt, createdAt } = fact.reading;
  const atMs = Date.parse(changedAt || createdAt);
  return status === "success" && atMs >= Date.parse(goLive) - LISTED_MS;
}

/**
 * Whether the first reading of a user shows one who was there before the ledger
 * went live.
 *
 * @param fact The event.
 * @param before The user before it; undefined when new.
 * @param times When the ledger went live.
 */
export function isHistoricUser(
  fact: Fact,
  before: UserFold | undefined,
  { goLive }: LedgerTimes,
): boolean {
  return goLive !== null && fact.kind === "user_snapshot" &&
    (before === undefined || before.latest === null) &&
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

/** What a report works with. */
export interface HistoryReportParts {
  /** Counts them. */
  readonly read: () => Promise<Historic>;
  /** Called once with the count, when it has stopped growing. */
  readonly report: (historic: Historic) => void;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/** Counting walks all of them, so it is not done after each fold. */
const LOOK_EVERY_MS = 60_000;

/**
 * Reports once how many orders and users were withheld because they are from
 * before the ledger went live: when their number has grown, and stands still
 * for a minute.
 */
export class HistoryReport {
  readonly #parts: HistoryReportParts;
  #lookedAtMs = -Infinity;
  #last = 0;
  #reported: number | null = null;

  /** @param parts What it works with. */
  constructor(parts: HistoryReportParts) {
    this.#parts = parts;
  }

  /**
   * Looks, at most once a minute. What is there at the first look was reported
   * before, so look before anything is folded.
   *
   * @throws {LedgerError} When the database fails.
   */
  async look(): Promise<void> {
    const { read, report, now } = this.#parts;
    const nowMs = now();
    if (Math.abs(nowMs - this.#lookedAtMs) < LOOK_EVERY_MS) return;
    const historic = await read();
    this.#lookedAtMs = nowMs;
    const before = this.#last;
    const withheld = historic.orders + historic.users;
    this.#last = withheld;
    this.#reported ??= withheld;
    if (withheld !== before || withheld <= this.#reported) return;
    this.#reported = withheld;
    report(historic);
  }
}
