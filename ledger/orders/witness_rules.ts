import type { WitnessRule } from "../../core/chain/witness_rule.ts";
import type { WitnessRuleChange } from "../events/witness_rule.ts";
import { compareTimes } from "../events/time.ts";
import { compareText } from "../machines/sorted_list.ts";
import { beganBy } from "./expectations.ts";
import type { OrderFold } from "./order_fold.ts";

/**
 * Whether orders wait for the chain, by when they began. A success keeps the
 * rule of its beginning: a later rule changes no earlier order.
 */
export class WitnessRules {
  /** By when they hold from; of one moment the one recorded last counts. */
  readonly #changes: WitnessRuleChange[] = [];

  /** Adds a change, once. */
  add(change: WitnessRuleChange): void {
    let at = this.#changes.length;
    for (; at > 0; at--) {
      const order = compare(
        this.#changes[at - 1] as WitnessRuleChange,
        change,
      );
      if (order === 0) return;
      if (order < 0) break;
    }
    this.#changes.splice(at, 0, change);
  }

  /** The rule for orders that begin at a time. */
  at(time: string): WitnessRule {
    return this.#changes.findLast(({ from }) => compareTimes(from, time) <= 0)
      ?.rule ?? "off";
  }

  /**
   * Joins an order with its rule. Joining twice changes nothing. Gives the same object
   * where nothing changes.
   */
  join(order: OrderFold): OrderFold {
    const began = order.latest?.status === "success" ? beganBy(order) : null;
    const rule = began === null ? "off" : this.at(began);
    const required = rule === "off" ? null : rule;
    return required === order.required ? order : { ...order, required };
  }
}

function compare(a: WitnessRuleChange, b: WitnessRuleChange): number {
  return compareTimes(a.from, b.from) ||
    compareText(a.recordedAt, b.recordedAt) || compareText(a.digest, b.digest);
}
