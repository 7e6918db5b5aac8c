/** All sweeps, in the order that breaks ties. */
export const SWEEP_KINDS = [
  "confirm",
  "new",
  "open",
  "deep",
] as const;

/** Name of a sweep. */
export type SweepKind = (typeof SWEEP_KINDS)[number];

export interface ShareRules {
  /** Requests per second of all sweeps together. */
  readonly requestsPerSecond: number;
  /**
   * Requests that may follow each other at once after a pause, at least 1. From
   * 2 on, the others leave one of them to the confirm sweep while it has no work.
   */
  readonly burst: number;
  /** Guaranteed part of each sweep; only their proportions count. */
  readonly shares: Readonly<Record<SweepKind, number>>;
}

type Turn = { readonly kind: SweepKind } | { readonly waitMs: number };

/**
 * Requests by which the confirm sweep may exceed its share, so that a fresh
 * claim of a webhook does not wait behind background sweeps.
 */
const CONFIRM_AHEAD = 6;

/** One rate budget as it is spent, and what each sweep has used. */
export class RequestMeter {
  readonly #rules: ShareRules;
  readonly #now: () => number;
  /** Requests that may be made now; negative after a turn that used more. */
  #tokens: number;
  #atMs: number;
  /** Requests of each sweep divided by its share, since it began. */
  readonly #used = noRequests();
  /** Least `used` of those that had work at the last turn. */
  #floor = 0;
  #busy: readonly SweepKind[] = [];
  /** Since counting began. */
  requests: Record<SweepKind, number> = noRequests();

  constructor(rules: ShareRules, now: () => number) {
    positive("requestsPerSecond", rules.requestsPerSecond);
    positive("burst", rules.burst);
    for (const kind of SWEEP_KINDS) {
      positive(`shares.${kind}`, rules.shares[kind]);
    }
    this.#rules = rules;
    this.#now = now;
    this.#tokens = rules.burst;
    this.#atMs = now();
  }

  /** Counts from nothing; the budget stays as it is. */
  countAnew(): void {
    this.requests = noRequests();
  }

  /**
   * Picks the sweep that is furthest behind its share among those with work. The
   * confirm sweep counts as a little behind, and a request is reserved for it: a
   * webhook is confirmed at once, whatever else runs.
   *
   * A sweep without work gives its share to the others and saves nothing. When it
   * has work again it starts level with them: it does not wait longer than they
   * do, and it does not delay them.
   */
  turn(ready: readonly SweepKind[]): Turn {
    const { requestsPerSecond, burst, shares } = this.#rules;
    const used = this.#used;
    for (const kind of ready) {
      if (!this.#busy.includes(kind)) {
        used[kind] = Math.max(used[kind], this.#floor);
      }
    }
    const candidates = SWEEP_KINDS.filter((kind) => ready.includes(kind));
    const [first, ...others] = candidates;
    if (first === undefined) {
      throw new RangeError("Cannot take a turn: no sweep is ready");
    }
    const rank = (kind: SweepKind): number =>
      used[kind] - (kind === "confirm" ? CONFIRM_AHEAD / shares.confirm : 0);
    const kind = others.reduce((a, b) => rank(b) < rank(a) ? b : a, first);
    const nowMs = this.#now();
    const elapsedMs = Math.max(0, nowMs - this.#atMs);
    const earned = elapsedMs / 1000 * requestsPerSecond;
    this.#tokens = Math.min(burst, this.#tokens + earned);
    this.#atMs = nowMs;
    this.#floor = Math.min(...candidates.map((kind) => used[kind]));
    this.#busy = candidates;
    const needed = kind === "confirm" ? 1 : Math.min(2, burst);
    // A rounding error of a token must not cause a second wait of zero length.
    if (this.#tokens > needed - 1e-9) return { kind };
    const waitMs = (needed - this.#tokens) / requestsPerSecond * 1000;
    return { waitMs: Math.max(1, Math.ceil(waitMs)) };
  }

  spend(kind: SweepKind, requests: number): void {
    this.requests[kind] += requests;
    this.#used[kind] += requests / this.#rules.shares[kind];
    this.#tokens -= requests;
  }
}

function noRequests(): Record<SweepKind, number> {
  return { new: 0, open: 0, confirm: 0, deep: 0 };
}

function positive(name: string, value: number): void {
  if (!(value > 0) || !Number.isFinite(value)) {
    throw new RangeError(
      `Cannot divide the rate: ${name} must be a positive number, got ${value}`,
    );
  }
}
