import { isRecord } from "../core/guards.ts";
import type { Random } from "./random.ts";

/**
 * The faults that strike at a rate: what goes wrong, the rate on a bad day, and
 * the count of it. What goes wrong with an order's or a user's row, or with a search for an id,
 * follows from the id; everything else is drawn each time.
 */
export const FAULT_RATES = {
  drop: ["Webhook never sent", 0.05, "dropped"],
  duplicate: ["Webhook sent twice, up to a minute later", 0.1, "duplicated"],
  delay: ["Webhook late, up to 10 min", 0.1, "delayed"],
  reorder: ["Webhook overtaken by the next", 0.1, "reordered"],
  forge: ["A forged webhook beside", 0.05, "forged"],
  unknownType: ["A webhook of an unknown type beside", 0.03, "unknownTypes"],
  malformed: ["Webhook cut short", 0.02, "malformed"],
  answerLost: ["Your 2xx gets lost", 0.05, "answersLost"],
  requestLost: ["Webhook gets lost", 0.05, "requestsLost"],
  apiTooManyRequests: ["API answers 429", 0.03, "apiTooManyRequests"],
  apiServerError: ["API answers 500, 502 or 503", 0.03, "apiServerErrors"],
  apiTimeout: ["API does not answer for 2 min", 0, "apiTimeouts"],
  apiSlowBody: ["API's body trickles in", 0.01, "apiSlowBodies"],
  pageInsert: ["Row inserted in a walk", 0.02, "pageInserts"],
  pageChange: ["Row changed in a walk", 0.05, "pageChanges"],
  pageShort: ["Page cut short", 0.05, "pagesShort"],
  sameSecond: ["Same created_at as the order before", 0.2, "sameSeconds"],
  totalWrong: ["Total is wrong", 0.05, "totalsWrong"],
  totalMissing: ["Total is missing", 0.05, "totalsMissing"],
  oddRow: ["A field of the wrong kind", 0, "oddRows"],
  rowWithoutId: ["Row without an id", 0, "rowsWithoutId"],
  timeAhead: ["Time in the far future", 0, "timesAhead"],
  refusedId: ["Search by an id refused", 0, "refusedIds"],
  wrongDate: ["Date header is wrong", 0, "wrongDates"],
  endlessCursor: ["Cursor repeats its page", 0, "endlessCursors"],
} as const;

/** A fault that strikes at a rate. */
export type FaultRate = keyof typeof FAULT_RATES;

/**
 * What goes wrong, and how often. A rate is the share of chances taken, from
 * 0 to 1. Everything is off until it is set, and can be changed at any time;
 * which chances are taken follows from the sandbox's seed alone.
 */
export interface Faults extends Readonly<Record<FaultRate, number>> {
  /** While true no attempt reaches the endpoint. */
  readonly endpointDown: boolean;
  /** Spans in which no attempt reaches the endpoint. */
  readonly endpointDownSpans: readonly FaultSpan[];
  /** How far the service's clock is ahead of the sandbox's, in ms. */
  readonly clockSkewMs: number;
}

/** A span of time, in milliseconds since the epoch. */
export interface FaultSpan {
  /** First millisecond in it. */
  readonly fromMs: number;
  /** First millisecond after it. */
  readonly untilMs: number;
}

/** Every fault with a rate, each at the rate that is said of it. */
function rates(
  rateOf: (row: typeof FAULT_RATES[FaultRate]) => number,
): Record<FaultRate, number> {
  return Object.fromEntries(
    Object.entries(FAULT_RATES).map(([name, row]) => [name, rateOf(row)]),
  ) as Record<FaultRate, number>;
}

/** Everything works. */
export const NO_FAULTS: Faults = {
  ...rates(() => 0),
  endpointDown: false,
  endpointDownSpans: [],
  clockSkewMs: 0,
};

/** A bad day: most faults at once, none so often that nothing gets through. */
export const BAD_DAY: Partial<Faults> = rates(([, badDay]) => badDay);

/** Throws unless a fault of this name takes the value. */
function checkFault(name: string, value: unknown): void {
  const refuse = (Kind: ErrorConstructor, expected: string) => {
    const got = typeof value === "number" ? value : JSON.stringify(value);
    throw new Kind(
      `Cannot set fault ${name}: expected ${expected}, got ${got}`,
    );
  };
  if (!Object.hasOwn(NO_FAULTS, name)) {
    refuse(TypeError, `a name of ${Object.keys(NO_FAULTS).join(", ")}`);
  } else if (name === "endpointDown") {
    if (typeof value !== "boolean") refuse(TypeError, "a boolean");
  } else if (name === "endpointDownSpans") {
    if (!Array.isArray(value) || !value.every(isSpan)) {
      refuse(TypeError, "a list of { fromMs, untilMs }");
    } else if (!value.every(({ fromMs, untilMs }) => untilMs > fromMs)) {
      refuse(RangeError, "each untilMs after its fromMs");
    }
  } else if (typeof value !== "number") {
    refuse(TypeError, "a number");
  } else if (name === "clockSkewMs") {
    if (!Number.isFinite(value)) refuse(RangeError, "a finite number of ms");
  } else if (!(value >= 0 && value <= 1)) {
    refuse(RangeError, "a rate from 0 to 1");
  }
}

function isSpan(value: unknown): value is FaultSpan {
  return isRecord(value) && typeof value.fromMs === "number" &&
    typeof value.untilMs === "number";
}

/** What is counted beside what each fault did. */
export const COUNTS = {
  events: "events of the service, without those that faults added",
  attempts: "attempts to deliver, copies and forgeries included",
  retries: "attempts after the first of an event",
  received: "events answered 2xx in time, as far as the service knows",
  failedAttempts: "attempts that the service counts as failed",
  timeouts: "attempts not answered within five seconds",
  disabled: "times that delivery was switched off",
  notSent: "events lost because delivery was off or had no address",
  apiRequests: "API requests taken, faults included",
} as const;

/** What happened in the sandbox so far. Counts never decrease. */
export type SandboxCounters = Record<
  keyof typeof COUNTS | (typeof FAULT_RATES)[FaultRate][2],
  number
>;

/** Decides from the seed when a fault strikes, and counts what happens. */
export class FaultInjector {
  readonly #random: Random;
  readonly #streams = new Map<string, Random>();
  readonly counters: SandboxCounters = Object.fromEntries(
    [
      ...Object.keys(COUNTS),
      ...Object.values(FAULT_RATES).map(([, , count]) => count),
    ].map((name) => [name, 0]),
  ) as SandboxCounters;
  faults: Faults = NO_FAULTS;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Lays a change over the faults in force. */
  set(change: Partial<Faults>): void {
    for (const [name, value] of Object.entries(change)) checkFault(name, value);
    this.faults = { ...this.faults, ...change };
  }

  /** Whether it is a fault's turn. */
  draws(name: FaultRate): boolean {
    return this.stream(name).chance(this.faults[name]);
  }

  /**
   * Whether a fault strikes this time, which is counted. Draws also where
   * there is nothing to strike, so that the seed's later choices stay.
   */
  strikes(name: FaultRate, canStrike = true): boolean {
    const strikes = this.draws(name) && canStrike;
    if (strikes) this.counters[FAULT_RATES[name][2]]++;
    return strikes;
  }

  /** Whether a fault strikes this id: each time the same, and not counted. */
  strikesId(name: FaultRate, id: string): boolean {
    const rate = this.faults[name];
    return rate > 0 && this.ofId(name, id).unit() < rate;
  }

  /** Random stream of a fault for one id; each time the same. */
  ofId(name: string, id: string): Random {
    return this.#random.fork(`${name} of ${id}`);
  }

  /** The random stream of a fault. */
  stream(name: string): Random {
    const stream = this.#streams.get(name) ?? this.#random.fork(name);
    this.#streams.set(name, stream);
    return stream;
  }

  /** Whether the endpoint cannot be reached at a time. */
  endpointDown(nowMs: number): boolean {
    return this.faults.endpointDown ||
      this.faults.endpointDownSpans.some((span) =>
        span.fromMs <= nowMs && nowMs < span.untilMs
      );
  }
}
