// Combinations of the facts of an outcome, for the tests of its laws.
import assert from "node:assert/strict";
import { FACT_VALUES, type OutcomeFacts } from "./outcome_table.ts";

const NAMES = Object.keys(FACT_VALUES) as (keyof OutcomeFacts)[];
const UNREAD: readonly string[] = ["none", "denied", "unreadable"];
const FINAL: readonly string[] = ["success", "failed", "cancelled"];

/** Every combination of the values of the facts. */
export const COMBINATIONS: readonly OutcomeFacts[] = [...all()];

function* all(): Generator<OutcomeFacts> {
  const total = NAMES.reduce((n, name) => n * FACT_VALUES[name].length, 1);
  for (let at = 0; at < total; at++) {
    let rest = at;
    const facts: Record<string, string> = {};
    for (const name of NAMES) {
      const values = FACT_VALUES[name];
      facts[name] = values[rest % values.length] ?? "";
      rest = Math.floor(rest / values.length);
    }
    yield facts as unknown as OutcomeFacts;
  }
}

/**
 * Where {@linkcode COMBINATIONS} has the combinations that differ from one in
 * a fact at most.
 */
export function variants(at: number, fact: keyof OutcomeFacts): number[] {
  let step = 1;
  for (const name of NAMES) {
    const { length } = FACT_VALUES[name];
    if (name === fact) {
      const first = at - (Math.floor(at / step) % length) * step;
      return FACT_VALUES[name].map((_, value) => first + value * step);
    }
    step *= length;
  }
  return [];
}

/** Whether some set of events, a time and other orders make these facts. */
export function canOccur(facts: OutcomeFacts): boolean {
  const { shown, gone, before, code, tx, match, chain, claim } = facts;
  const { required, overdue } = facts;
  const isUnread = UNREAD.includes(shown);
  if (
    isUnread &&
    (before !== "none" || code !== "none" || tx !== "unstated" ||
      match !== "nothing" || chain !== "none")
  ) return false;
  if (shown === "success" && before === "success") return false;
  if (gone === "yes" && (shown === "none" || shown === "denied")) return false;
  if (shown === "none" && claim === "rejected") return false;
  if (
    claim !== "none" &&
    (FINAL.includes(shown) || shown === "unlisted" || shown === "unreadable")
  ) return false;
  if (required === "yes" && (shown !== "success" || chain === "off")) {
    return false;
  }
  if (
    overdue === "yes" && shown !== "progress" && shown !== "pending" &&
    required === "no"
  ) return false;
  return facts.twice === "no" || (shown === "success" && match === "matched");
}

/** Where {@linkcode COMBINATIONS} has those that can occur. */
export const POSSIBLE: readonly number[] = COMBINATIONS.keys()
  .filter((at) => canOccur(COMBINATIONS[at] ?? assert.fail())).toArray();
