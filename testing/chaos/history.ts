import type { Random } from "../../sandbox/random.ts";

/** When a process crashes. */
export type CrashPoint = "before" | "in" | "after";

/** One thing that happens to a shop. */
export type Step =
  | { readonly kind: "sell"; readonly basket: number }
  | {
    readonly kind: "pay";
    readonly basket: number;
    readonly amount: string;
  }
  | { readonly kind: "fail" | "reverse" | "forge"; readonly basket: number }
  | { readonly kind: "faults"; readonly rate: number }
  | { readonly kind: "crash"; readonly at: CrashPoint }
  | { readonly kind: "down" }
  | { readonly kind: "wait"; readonly ms: number };

/** What every basket costs, in USD. */
export const PRICE = "50.00";

const WAITS_MS = [1_000, 60_000, 60_000, 15 * 60_000];

/** What happens in one history: the same for the same draws. */
export function drawHistory(random: Random): readonly Step[] {
  const baskets = Array.from({ length: random.int(2, 4) }, (_, n) => n + 1);
  const lives = baskets.map((basket) => basketLife(basket, random));
  const steps: Step[] = [];
  while (lives.some((life) => life.length > 0)) {
    const next = random.pick(lives.filter((life) => life.length > 0)).shift();
    if (random.chance(0.25)) steps.push(trouble(random));
    if (next !== undefined) steps.push(next);
    if (random.chance(0.4)) {
      steps.push({ kind: "wait", ms: random.pick(WAITS_MS) });
    }
  }
  return steps;
}

/** What a customer does with one basket, in its order. */
function basketLife(basket: number, random: Random): Step[] {
  const sell: Step = { kind: "sell", basket };
  const pay = (amount: string): Step => ({ kind: "pay", basket, amount });
  const forge: Step[] = random.chance(0.3) ? [{ kind: "forge", basket }] : [];
  switch (random.int(0, 6)) {
    case 0:
      return [sell, ...forge, pay("5.00")];
    case 1:
      return [sell, { kind: "fail", basket }, ...forge, pay(PRICE)];
    case 2:
      return [sell, pay(PRICE), { kind: "reverse", basket }, ...forge];
    case 3:
      return [sell, pay(PRICE), pay(PRICE), ...forge];
    case 4:
      return [sell, { kind: "forge", basket }];
    default:
      return [sell, ...forge, pay(PRICE)];
  }
}

function trouble(random: Random): Step {
  switch (random.int(0, 4)) {
    case 0:
      return { kind: "faults", rate: random.pick([0.2, 0.5, 1]) };
    case 1:
      return { kind: "down" };
    default:
      return {
        kind: "crash",
        at: random.pick<CrashPoint>(["before", "in", "after"]),
      };
  }
}

/** A step in one line, for people. */
export function stepLine(step: Step): string {
  switch (step.kind) {
    case "sell":
      return `basket ${step.basket} is sold for ${PRICE} USD`;
    case "pay":
      return `the customer of basket ${step.basket} pays ${step.amount} USD`;
    case "fail":
      return `a payment of basket ${step.basket} is declined`;
    case "reverse":
      return `the service takes the payment of basket ${step.basket} back`;
    case "forge":
      return `a stranger's webhook claims that basket ${step.basket} was paid`;
    case "faults":
      return "webhooks come twice, late, out of order or never";
    case "crash":
      return `a process crashes ${WHEN[step.at]} the next call of a handler`;
    case "down":
      return "both processes crash";
    case "wait":
      return `${step.ms / 1000} s pass`;
  }
}

const WHEN: Readonly<Record<CrashPoint, string>> = {
  before: "before",
  in: "in the middle of",
  after: "right after",
};
