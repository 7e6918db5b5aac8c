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

export const FOLD_PACE_RULES: FoldPaceRules = {
  crowdedPerSecond: 500,
  crowdedShare: 0.125,
  longestRestMs: 2000,
  stepEvents: { crowded: 100, calm: 500 },
};

const COUNTED_MS = 50;
/**
 * Counts without a crowd that end it. One is not enough: while the disk stalls
 * nobody is answered, so nobody sends.
 */
const CALM_COUNTS = 4;

/**
 * Decides when the next step is folded: while many deliveries are received, senders wait
 * and nobody waits for the fold, which gets a bounded share of the time and never stands
 * still. Deliveries count when they are received, and again when they are appended,
 * because a spool is to be empty soon after a crowd. It has no clock.
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

  constructor(rules: FoldPaceRules, nowMs: number) {
    this.#rules = rules;
    this.#countedMs = nowMs;
  }

  received(count = 1): void {
    this.#received += count;
  }

  appended(count: number): void {
    this.#appended += count;
  }

  /** Ends the step that is under way; `waitMs` is 0 where the next may be made now. */
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
