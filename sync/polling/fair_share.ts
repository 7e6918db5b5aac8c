/** All sweeps, in the order that breaks ties. */
export const SWEEP_KINDS = [
  "confirm",
  "new",
  "open",
  "deep",
] as const;

/** Name of a sweep. */
export type SweepKind = (typeof SWEEP_KINDS)[number];

/** How a budget is divided. */
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

/** A budget between two requests: plain data. */
interface FairShare {
  /** Requests that may be made now; negative after a turn that used more. */
  readonly tokens: number;
  /** When `tokens` was true, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Requests of each sweep divided by its share, since it began. */
  readonly used: Readonly<Record<SweepKind, number>>;
  /** Least `used` of those that had work at the last turn. */
  readonly floor: number;
  /** Sweeps that had work at the last turn. */
  readonly busy: readonly SweepKind[];
}

/** The sweep whose turn it is, or how long every sweep must wait. */
export type Turn =
  | { readonly kind: SweepKind; readonly budget: FairShare }
  | { readonly waitMs: number; readonly budget: FairShare };

/**
 * Requests by which the confirm sweep may exceed its share, so that a fresh
 * claim of a webhook does not wait behind background sweeps.
 */
const CONFIRM_AHEAD = 6;

/**
 * A full budget.
 *
 * @param rules How it is divided.
 * @param nowMs The time, in milliseconds since the epoch.
 * @throws {RangeError} When a share or the rate is not a positive number.
 *
 * @example Two requests a second
 * ```ts ignore
 * fullBudget({ requestsPerSecond: 2, burst: 2, shares: DEFAULT_SHARES }, Date.now());
 * ```
 */
export function fullBudget(rules: ShareRules, nowMs: number): FairShare {
  positive("requestsPerSecond", rules.requestsPerSecond);
  positive("burst", rules.burst);
  for (const kind of SWEEP_KINDS) {
    positive(`shares.${kind}`, rules.shares[kind]);
  }
  const used = { new: 0, open: 0, confirm: 0, deep: 0 };
  return { tokens: rules.burst, atMs: nowMs, used, floor: 0, busy: [] };
}

/**
 * Picks the sweep that is furthest behind its share among those with work. The
 * confirm sweep counts as a little behind, and a request is reserved for it: a
 * webhook is confirmed at once, whatever else runs.
 *
 * A sweep without work gives its share to the others and saves nothing. When it
 * has work again it starts level with them: it does not wait longer than they
 * do, and it does not delay them.
 *
 * @param budget The budget before the turn.
 * @param rules How it is divided.
 * @param ready Sweeps with work.
 * @param nowMs The time, in milliseconds since the epoch.
 * @throws {RangeError} When no sweep is ready.
 *
 * @example Find out whose turn it is
 * ```ts ignore
 * const turn = takeTurn(budget, rules, ["new", "deep"], Date.now());
 * ```
 */
export function takeTurn(
  budget: FairShare,
  rules: ShareRules,
  ready: readonly SweepKind[],
  nowMs: number,
): Turn {
  const used = { ...budget.used };
  for (const kind of ready) {
    if (!budget.busy.includes(kind)) {
      used[kind] = Math.max(used[kind], budget.floor);
    }
  }
  const candidates = SWEEP_KINDS.filter((kind) => ready.includes(kind));
  const [first, ...others] = candidates;
  if (first === undefined) {
    throw new RangeError("Cannot take a turn: no sweep is ready");
  }
  const rank = (kind: SweepKind): number =>
    used[kind] -
    (kind === "confirm" ? CONFIRM_AHEAD / rules.shares.confirm : 0);
  const kind = others.reduce((a, b) => rank(b) < rank(a) ? b : a, first);
  const elapsedMs = Math.max(0, nowMs - budget.atMs);
  const next: FairShare = {
    tokens: Math.min(
      rules.burst,
      budget.tokens + elapsedMs / 1000 * rules.requestsPerSecond,
    ),
    atMs: nowMs,
    used,
    floor: Math.min(...candidates.map((kind) => used[kind])),
    busy: candidates,
  };
  const needed = kind === "confirm" ? 1 : Math.min(2, rules.burst);
  // A rounding error of a token must not cause a second wait of zero length.
  if (next.tokens > needed - 1e-9) return { kind, budget: next };
  const waitMs = (needed - next.tokens) / rules.requestsPerSecond * 1000;
  return { waitMs: Math.max(1, Math.ceil(waitMs)), budget: next };
}

/**
 * Charges a sweep for the requests of its turn.
 *
 * @param budget The budget that gave the turn.
 * @param rules How it is divided.
 * @param kind Whose turn it was.
 * @param requests How many requests it made.
 *
 * @example Charge a page
 * ```ts ignore
 * budget = spend(budget, rules, "deep", 1);
 * ```
 */
export function spend(
  budget: FairShare,
  rules: ShareRules,
  kind: SweepKind,
  requests: number,
): FairShare {
  const used = budget.used[kind] + requests / rules.shares[kind];
  return {
    ...budget,
    tokens: budget.tokens - requests,
    used: { ...budget.used, [kind]: used },
  };
}

function positive(name: string, value: number): void {
  if (!(value > 0) || !Number.isFinite(value)) {
    throw new RangeError(
      `Cannot divide the rate: ${name} must be a positive number, got ${value}`,
    );
  }
}

/** One rate budget as it is spent, and what each sweep has used. */
export class RequestMeter {
  readonly #rules: ShareRules;
  readonly #now: () => number;
  #budget: FairShare;
  #requests: Record<SweepKind, number> = noRequests();

  /**
   * Starts with a full budget.
   *
   * @param rules How it is divided.
   * @param now The clock, in ms.
   * @throws {RangeError} When the rate or a share is not a positive number.
   */
  constructor(rules: ShareRules, now: () => number) {
    this.#rules = rules;
    this.#now = now;
    this.#budget = fullBudget(rules, now());
  }

  /** Requests since counting began, by sweep. */
  get requests(): Readonly<Record<SweepKind, number>> {
    return this.#requests;
  }

  /** Counts from nothing; the budget stays as it is. */
  countAnew(): void {
    this.#requests = noRequests();
  }

  /** The sweep whose turn it is, or how many milliseconds all must wait. */
  turn(
    ready: readonly SweepKind[],
  ): { readonly kind: SweepKind } | { readonly waitMs: number } {
    const turn = takeTurn(this.#budget, this.#rules, ready, this.#now());
    this.#budget = turn.budget;
    return turn;
  }

  /** Charges a sweep. */
  spend(kind: SweepKind, requests: number): void {
    this.#requests[kind] += requests;
    this.#budget = spend(this.#budget, this.#rules, kind, requests);
  }
}

function noRequests(): Record<SweepKind, number> {
  return { new: 0, open: 0, confirm: 0, deep: 0 };
}
