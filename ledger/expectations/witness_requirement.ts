import type { NewEvent } from "../events/event.ts";
import type { WitnessRuleFact } from "../events/fact.ts";
import { record } from "../events/record.ts";
import type { WitnessRule } from "../../core/chain/witness_rule.ts";
import { nextSecond, witnessRuleBody } from "../events/witness_rule.ts";
import { WitnessRules } from "../orders/witness_rules.ts";

/**
 * The event by which a rule holds from now on.
 *
 * @param rule The rule.
 * @param rules Those that were recorded.
 * @param options The time, and sixteen random bytes.
 * @returns Null where it holds already.
 */
export function changeOfRule(
  rule: WitnessRule,
  rules: readonly WitnessRuleFact[],
  { now, salt }: { readonly now: number; readonly salt: Uint8Array },
): NewEvent | null {
  const at = new Date(now).toISOString();
  if (ruleFrom(rules, at) === rule) return null;
  return record("witness_required", witnessRuleBody(rule, at), {
    recordedAt: at,
    salt,
  });
}

/**
 * The rule for orders that begin from a time on.
 *
 * @param rules Those that were recorded.
 * @param time UTC ISO 8601.
 */
export function ruleFrom(
  rules: readonly WitnessRuleFact[],
  time: string,
): WitnessRule {
  const known = new WitnessRules();
  for (const { change } of rules) known.add(change);
  return known.at(nextSecond(time));
}
