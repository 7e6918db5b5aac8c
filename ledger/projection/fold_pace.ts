/** When folding gives way to senders, and for how long. */
export interface FoldPaceRules {
  /** Deliveries received, or appended, in a second from which on they go first. */
  readonly crowdedPerSecond: number;
  /**
   * Part of the time that is folded while they do, above 0 and at most 1: after
   * each step folding rests for as long as that takes.
   */
  readonly crowdedShare: number;
  /** Longest rest after one step, ms: an overloaded disk makes steps long. */
  readonly longestRestMs: number;
  /** Most events of a step while senders go first, and at other times. */
  readonly stepEvents: { readonly crowded: number; readonly calm: number };
}

/**
 * The rules unless somebody says otherwise. A step is folded on the thread that
 * answers deliveries, and they wait for it: few events while they come in
 * crowds. At other times a step of 500 makes the longest wait a fifth of that
 * with steps of 4,000, and as many events are folded in a second.
 */
export const FOLD_PACE_RULES: FoldPaceRules = {
  crowdedPerSecond: 500,
  crowdedShare: 0.125,
  longestRestMs: 2000,
  stepEvents: { crowded: 100, calm: 500 },
};

/** Deliveries are counted over at least this long to measure their rate, ms. */
const COUNTED_MS = 50;
/**
 * Counts without a crowd that end it. One is not enough: while the disk stalls
 * nobody is answered, so nobody sends.
 */
const CALM_COUNTS = 4;

/**
 * Decides when the next step is folded. While many deliveries are received,
 * senders wait for their answers and nobody waits for the fold, so that it only
 * gets a bounded share of the time; it never stands still. Deliveries count when
 * they are received: with a spool in between they are appended in groups, and
 * between two groups senders wait all the same. They count again when they are
 * appended, because a spool is to be empty soon after a crowd.
 *
 * It has no clock: every method takes the time, in ms.
 *
 * @example An eighth of the time while a thousand a second come
 * ```ts
 * import { FOLD_PACE_RULES, FoldPace } from "./fold_pace.ts";
 * import assert from "node:assert/strict";
 *
 * const pace = new FoldPace(FOLD_PACE_RULES, 0);
 * pace.received(100);
 * assert.equal(pace.next(100).waitMs, 0);
 * pace.received(40);
 * // The step took 40 ms, so folding rests for 280; it is looked again before.
 * assert.equal(pace.next(140).waitMs, 50);
 * ```
 */
export class FoldPace {
  readonly #rules: FoldPaceRules;
  #received = 0;
  #appended = 0;
  #countedMs: number;
  /** Counts without a crowd since the last one with it. */
  #calmCounts = CALM_COUNTS;
  /** When the step began that is under way. */
  #steppingMs: number | null = null;
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * Begins calm.
   *
   * @param rules When it gives way.
   * @param nowMs The time.
   */
  constructor(rules: FoldPaceRules, nowMs: number) {
    this.#rules = rules;
    this.#countedMs = nowMs;
  }

  /** Counts deliveries that came in. @param count How many. @default 1 */
  received(count = 1): void {
    this.#received += count;
  }

  /** Counts deliveries that were appended. @param count How many. */
  appended(count: number): void {
    this.#appended += count;
  }

  /**
   * Ends the step that is under way, and says when the next may be made.
   *
   * @param nowMs The time.
   * @returns `waitMs` is 0 where it may be made now, and is to be asked again
   * after that time otherwise; `mostEvents` is what it may take.
   */
  next(
    nowMs: number,
  ): { readonly waitMs: number; readonly mostEvents: number } {
    this.ended(nowMs);
    this.#count(nowMs);
    const isCrowded = this.#calmCounts < CALM_COUNTS;
    const { crowded, calm } = this.#rules.stepEvents;
    const mostEvents = isCrowded ? crowded : calm;
    const leftMs = this.#restsUntilMs - nowMs;
    if (isCrowded && leftMs > 0) {
      return { waitMs: Math.min(leftMs, COUNTED_MS), mostEvents };
    }
    this.#steppingMs = nowMs;
    return { waitMs: 0, mostEvents };
  }

  /** Ends the step that is under way, where none follows. @param nowMs The time. */
  ended(nowMs: number): void {
    if (this.#steppingMs === null) return;
    const tookMs = Math.max(0, nowMs - this.#steppingMs);
    const { crowdedShare, longestRestMs } = this.#rules;
    this.#steppingMs = null;
    this.#restsUntilMs = nowMs +
      Math.min(longestRestMs, tookMs * (1 / crowdedShare - 1));
  }

  #count(nowMs: number): void {
    const tookMs = nowMs - this.#countedMs;
    // A clock that was set back counts from there.
    if (tookMs >= 0 && tookMs < COUNTED_MS) return;
    const isCrowded = tookMs > 0 &&
      Math.max(this.#received, this.#appended) >
        this.#rules.crowdedPerSecond * tookMs / 1000;
    this.#calmCounts = isCrowded ? 0 : this.#calmCounts + 1;
    this.#received = 0;
    this.#appended = 0;
    this.#countedMs = nowMs;
  }
}
