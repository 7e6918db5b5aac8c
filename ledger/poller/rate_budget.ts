/** A sweep, as far as the budget knows it. */
export type Lane = "new" | "open" | "confirm" | "deep";

/** All lanes, in the order that breaks ties. */
export const LANES: readonly Lane[] = ["confirm", "new", "open", "deep"];

/** How a budget is divided. */
export interface BudgetRules {
  /** Requests per second of all lanes together. */
  readonly requestsPerSecond: number;
  /** Requests that may follow each other at once after a pause. */
  readonly burst: number;
  /** Guaranteed part of each lane; only their proportions count. */
  readonly shares: Readonly<Record<Lane, number>>;
}

/** A budget between two requests: plain data. */
export interface RateBudget {
  /** Requests that may be made now; negative after a long turn. */
  readonly tokens: number;
  /** When `tokens` was true, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Requests of each lane divided by its share, since it began. */
  readonly used: Readonly<Record<Lane, number>>;
  /** Least `used` of those that had work at the last turn. */
  readonly floor: number;
  /** Lanes that had work at the last turn. */
  readonly busy: readonly Lane[];
}

/** Whose turn it is, or how long nobody's. */
export type Turn =
  | { readonly lane: Lane; readonly budget: RateBudget }
  | { readonly waitMs: number; readonly budget: RateBudget };

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
export function fullBudget(rules: BudgetRules, nowMs: number): RateBudget {
  positive("requestsPerSecond", rules.requestsPerSecond);
  positive("burst", rules.burst);
  for (const lane of LANES) positive(`shares.${lane}`, rules.shares[lane]);
  const used = { new: 0, open: 0, confirm: 0, deep: 0 };
  return { tokens: rules.burst, atMs: nowMs, used, floor: 0, busy: [] };
}

/**
 * Picks the lane that is furthest behind its share among those with work.
 *
 * A lane without work gives its share to the others and saves nothing up: when
 * it comes back it starts level, so that it neither waits nor crowds out.
 *
 * @param budget The budget before the turn.
 * @param rules How it is divided.
 * @param ready Lanes with work.
 * @param nowMs The time, in milliseconds since the epoch.
 * @throws {RangeError} When no lane is ready.
 *
 * @example Ask whose turn it is
 * ```ts ignore
 * const turn = takeTurn(budget, rules, ["new", "deep"], Date.now());
 * ```
 */
export function takeTurn(
  budget: RateBudget,
  rules: BudgetRules,
  ready: readonly Lane[],
  nowMs: number,
): Turn {
  const used = { ...budget.used };
  for (const lane of ready) {
    if (!budget.busy.includes(lane)) {
      used[lane] = Math.max(used[lane], budget.floor);
    }
  }
  const candidates = LANES.filter((lane) => ready.includes(lane));
  const [first, ...others] = candidates;
  if (first === undefined) {
    throw new RangeError("Cannot take a turn: no lane is ready");
  }
  const lane = others.reduce((a, b) => used[b] < used[a] ? b : a, first);
  const elapsedMs = Math.max(0, nowMs - budget.atMs);
  const next: RateBudget = {
    tokens: Math.min(
      rules.burst,
      budget.tokens + elapsedMs / 1000 * rules.requestsPerSecond,
    ),
    atMs: nowMs,
    used,
    floor: used[lane],
    busy: candidates,
  };
  // A rounding error of a token must not cost a second wait of no length.
  if (next.tokens > 1 - 1e-9) return { lane, budget: next };
  const waitMs = (1 - next.tokens) / rules.requestsPerSecond * 1000;
  return { waitMs: Math.max(1, Math.ceil(waitMs)), budget: next };
}

/**
 * Charges a lane for the requests of its turn.
 *
 * @param budget The budget that gave the turn.
 * @param rules How it is divided.
 * @param lane Whose turn it was.
 * @param requests How many requests it made.
 *
 * @example Charge a page
 * ```ts ignore
 * budget = spend(budget, rules, "deep", 1);
 * ```
 */
export function spend(
  budget: RateBudget,
  rules: BudgetRules,
  lane: Lane,
  requests: number,
): RateBudget {
  const used = budget.used[lane] + requests / rules.shares[lane];
  return {
    ...budget,
    tokens: budget.tokens - requests,
    used: { ...budget.used, [lane]: used },
  };
}

function positive(name: string, value: number): void {
  if (!(value > 0) || !Number.isFinite(value)) {
    throw new RangeError(
      `Cannot divide the rate: ${name} must be a positive number, got ${value}`,
    );
  }
}
