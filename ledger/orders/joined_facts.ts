import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import { ExpectationPool } from "./expectation_pool.ts";
import type { OrderFold } from "./order_fold.ts";
import { WitnessRules } from "./witness_rules.ts";

/**
 * Facts that name no order and concern some: what the partner expects, and
 * whether orders wait for the chain.
 */
export class JoinedFacts {
  readonly #expectations = new ExpectationPool();
  readonly #rules = new WitnessRules();

  /** Adds a fact, once. */
  add(fact: Fact): boolean {
    if (isExpectation(fact)) this.#expectations.add(fact.expectation);
    else if (isWitnessRule(fact)) this.#rules.add(fact.change);
    else return false;
    return true;
  }

  /**
   * Joins an order with what concerns it. Joining twice changes nothing. Gives the same
   * object where nothing changes.
   */
  join(order: OrderFold): OrderFold {
    return this.#rules.join(this.#expectations.join(order));
  }
}
