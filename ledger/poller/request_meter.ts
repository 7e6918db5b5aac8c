import {
  type BudgetRules,
  fullBudget,
  type Lane,
  type RateBudget,
  spend,
  takeTurn,
} from "./rate_budget.ts";

/** One rate budget as it is spent, and what each lane has made of it. */
export class RequestMeter {
  readonly #rules: BudgetRules;
  readonly #now: () => number;
  #budget: RateBudget;
  #requests: Record<Lane, number> = noRequests();

  /**
   * Starts with a full budget.
   *
   * @param rules How it is divided.
   * @param now The clock, in ms.
   * @throws {RangeError} When the rate or a share is not a positive number.
   */
  constructor(rules: BudgetRules, now: () => number) {
    this.#rules = rules;
    this.#now = now;
    this.#budget = fullBudget(rules, now());
  }

  /** Requests since counting began, by lane. */
  get requests(): Readonly<Record<Lane, number>> {
    return this.#requests;
  }

  /** Counts from nothing; the budget stays as it is. */
  countAnew(): void {
    this.#requests = noRequests();
  }

  /** Whose turn it is, or how many milliseconds nobody's. */
  turn(
    ready: readonly Lane[],
  ): { readonly lane: Lane } | { readonly waitMs: number } {
    const turn = takeTurn(this.#budget, this.#rules, ready, this.#now());
    this.#budget = turn.budget;
    return turn;
  }

  /** Charges a lane. */
  spend(lane: Lane, requests: number): void {
    this.#requests[lane] += requests;
    this.#budget = spend(this.#budget, this.#rules, lane, requests);
  }
}

function noRequests(): Record<Lane, number> {
  return { new: 0, open: 0, confirm: 0, deep: 0 };
}
