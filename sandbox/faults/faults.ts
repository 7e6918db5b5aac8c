/**
 * What goes wrong, and how often. A rate is the share of chances taken, from
 * 0 to 1. Everything is off until it is set, and can be changed at any time;
 * which chances are taken follows from the sandbox's seed alone.
 */
export interface Faults {
  /** Rate of events the service never sends. */
  readonly drop: number;
  /** Rate of received events that are sent once more, up to a minute later. */
  readonly duplicate: number;
  /** Rate of events sent up to ten minutes late. */
  readonly delay: number;
  /** Rate of events held back until the next one of the same entity is out. */
  readonly reorder: number;
  /** Rate, for each event about an order, of a false event beside it. */
  readonly forge: number;
  /**
   * Rate of events about an order that are accompanied by one of an unknown
   * type.
   */
  readonly unknownType: number;
  /** Rate of events whose body is cut short on the way. */
  readonly malformed: number;
  /** Rate of attempts whose 2xx is lost on the way back. */
  readonly answerLost: number;
  /** Rate of attempts that never reach the endpoint. */
  readonly requestLost: number;
  /** While true no attempt reaches the endpoint. */
  readonly endpointDown: boolean;
  /** Spans in which no attempt reaches the endpoint. */
  readonly endpointDownSpans: readonly FaultSpan[];
  /** Rate of API requests answered with 429 and `Retry-After`. */
  readonly apiTooManyRequests: number;
  /** Rate of API requests answered with 500, 502 or 503. */
  readonly apiServerError: number;
  /** Rate of API requests that are not answered for two minutes. */
  readonly apiTimeout: number;
  /** Rate of API answers whose body takes seconds to arrive. */
  readonly apiSlowBody: number;
  /** Rate of pages followed by a new row, dated up to five seconds back. */
  readonly pageInsert: number;
  /** Rate of pages with a row that changes right after. */
  readonly pageChange: number;
  /** Rate of pages shorter than the limit although more rows follow. */
  readonly pageShort: number;
  /** Rate of orders created in the very second of the one before. */
  readonly sameSecond: number;
  /** Rate of answers with a wrong `total`. */
  readonly totalWrong: number;
  /** Rate of answers without `total`. */
  readonly totalMissing: number;
  /**
   * Rate of orders and users whose row has one field of another kind than
   * documented, each time it is shown. Which ones follows from the id.
   */
  readonly oddRow: number;
  /** Rate of orders and users whose row has no id. Follows from the id. */
  readonly rowWithoutId: number;
  /**
   * Rate of orders and users whose row states a time in the far future. Follows
   * from the id.
   */
  readonly timeAhead: number;
  /**
   * Rate of ids with which a search is refused: 403, 400, 500, or a page of
   * HTML, for all ids of the request. Follows from the id.
   */
  readonly refusedId: number;
  /** Rate of API answers whose `Date` header is hours or decades off. */
  readonly wrongDate: number;
  /** Rate of pages of orders whose cursor leads to the same page for ever. */
  readonly endlessCursor: number;
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

/** Everything works. */
export const NO_FAULTS: Faults = {
  drop: 0,
  duplicate: 0,
  delay: 0,
  reorder: 0,
  forge: 0,
  unknownType: 0,
  malformed: 0,
  answerLost: 0,
  requestLost: 0,
  endpointDown: false,
  endpointDownSpans: [],
  apiTooManyRequests: 0,
  apiServerError: 0,
  apiTimeout: 0,
  apiSlowBody: 0,
  pageInsert: 0,
  pageChange: 0,
  pageShort: 0,
  sameSecond: 0,
  totalWrong: 0,
  totalMissing: 0,
  oddRow: 0,
  rowWithoutId: 0,
  timeAhead: 0,
  refusedId: 0,
  wrongDate: 0,
  endlessCursor: 0,
  clockSkewMs: 0,
};

/** A bad day: every fault at once, none so often that nothing gets through. */
export const BAD_DAY: Partial<Faults> = {
  drop: 0.05,
  duplicate: 0.1,
  delay: 0.1,
  reorder: 0.1,
  forge: 0.05,
  unknownType: 0.03,
  malformed: 0.02,
  answerLost: 0.05,
  requestLost: 0.05,
  apiTooManyRequests: 0.03,
  apiServerError: 0.03,
  apiSlowBody: 0.01,
  pageInsert: 0.02,
  pageChange: 0.05,
  pageShort: 0.05,
  sameSecond: 0.2,
  totalWrong: 0.05,
  totalMissing: 0.05,
};

/**
 * Lays a change over the faults in force.
 *
 * @param current The faults in force.
 * @param change The ones to set.
 * @returns The faults from now on.
 * @throws {TypeError} If a fault is not known or its value of another kind.
 * @throws {RangeError} If a rate is not from 0 to 1, or a span ends early.
 *
 * @example Drop one webhook in ten
 * ```ts
 * import { changeFaults, NO_FAULTS } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * assert.equal(changeFaults(NO_FAULTS, { drop: 0.1 }).drop, 0.1);
 * assert.throws(() => changeFaults(NO_FAULTS, { drop: 2 }), RangeError);
 * ```
 */
export function changeFaults(
  current: Faults,
  change: Partial<Faults>,
): Faults {
  for (const [name, value] of Object.entries(change)) checkFault(name, value);
  return { ...current, ...change };
}

/** Throws unless `value` is one that the fault `name` takes. */
function checkFault(name: string, value: unknown): void {
  const model: unknown = Object.hasOwn(NO_FAULTS, name)
    ? NO_FAULTS[name as keyof Faults]
    : undefined;
  if (model === undefined) {
    throw new TypeError(
      `Cannot set a fault: "${name}" is not one of ${
        Object.keys(NO_FAULTS).join(", ")
      }`,
    );
  }
  if (name === "endpointDownSpans") return checkSpans(value);
  if (typeof value !== typeof model) {
    throw new TypeError(
      `Cannot set fault ${name}: expected a ${typeof model}, got ${
        JSON.stringify(value)
      }`,
    );
  }
  if (typeof value !== "number") return;
  const isRate = name !== "clockSkewMs";
  if (!Number.isFinite(value) || (isRate && (value < 0 || value > 1))) {
    throw new RangeError(
      `Cannot set fault ${name}: expected ${
        isRate ? "a rate from 0 to 1" : "a finite number of ms"
      }, got ${value}`,
    );
  }
}

function checkSpans(value: unknown): void {
  const spans: unknown[] = Array.isArray(value) ? value : [null];
  for (const span of spans) {
    const { fromMs, untilMs } = (span ?? {}) as Partial<FaultSpan>;
    if (typeof fromMs !== "number" || typeof untilMs !== "number") {
      throw new TypeError(
        "Cannot set fault endpointDownSpans: expected a list of " +
          `{ fromMs, untilMs }, got ${JSON.stringify(value)}`,
      );
    }
    if (!(untilMs > fromMs)) {
      throw new RangeError(
        "Cannot set fault endpointDownSpans: untilMs must be after fromMs, " +
          `got ${fromMs} to ${untilMs}`,
      );
    }
  }
}
