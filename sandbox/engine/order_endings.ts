import type { Random } from "../seeded/random.ts";
import type { OrderStep } from "./order_steps.ts";

/** The ways an order can end, each with its weight. */
const ENDINGS: readonly (readonly [number, readonly OrderStep[]])[] = [
  [50, ["pay", "authorise", "transfer", "complete"]],
  [12, ["pay", "authorise", "complete", "transfer"]],
  [10, ["pay", "complete"]],
  [8, ["pay", "fail"]],
  [6, ["pay", "authorise", "fail"]],
  [3, ["fail"]],
  [7, ["pay", "authorise", "cancel"]],
  [2, ["pay", "authorise", "transfer", "complete", "cancel"]],
  [2, ["pay", "cancel"]],
];

/** The steps of one ending, picked by weight. */
export function pickEnding(random: Random): readonly OrderStep[] {
  const sum = ENDINGS.reduce((total, [weight]) => total + weight, 0);
  let left = random.unit() * sum;
  for (const [weight, steps] of ENDINGS) {
    left -= weight;
    if (left < 0) return steps;
  }
  return [];
}
