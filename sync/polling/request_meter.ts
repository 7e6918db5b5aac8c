import {
  type FairShare,
  fullBudget,
  type ShareRules,
  spend,
  type SweepKind,
  takeTurn,
} from "./fair_share.ts";

/** One rate budget as it is spent, and what each sweep has made of it. */
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
