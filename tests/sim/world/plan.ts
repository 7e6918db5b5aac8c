import type { DisableRule, Faults } from "../../../sandbox/mod.ts";
import { type Attack, attackOf } from "./attack.ts";
import type { Dice } from "./dice.ts";
import type { StoreFaults } from "./faulty_driver.ts";
import type { SpoolFaults } from "./virtual_disk.ts";

/** How our part is spread over processes. */
export type Shape =
  /** Endpoint and poller in one process. */
  | "together"
  /** One process each. */
  | "apart"
  /** Two pollers that take the lease from each other. */
  | "rivals";

/** What a seed decides before anything happens. */
export interface Plan {
  /** Where the clock starts, in milliseconds since the epoch. */
  readonly startMs: number;
  /** Steps until everything heals. */
  readonly steps: number;
  /** Finished orders in the past. */
  readonly past: number;
  readonly shape: Shape;
  /** Whether the endpoint has a spool. */
  readonly spool: boolean;
  /** Whether pollers run by themselves; else each step may poll once. */
  readonly running: boolean;
  /** Longest random delay around each batch, in milliseconds. */
  readonly jitterMs: number;
  /** Time between two steps: mostly seconds, minutes or hours. */
  readonly pace: "seconds" | "minutes" | "hours";
  readonly disableRule: DisableRule;
  readonly cancelSpelling: "order_cancelled" | "order_canceled";
  /** Faults of the service in force from the start. */
  readonly service: Partial<Faults>;
  readonly store: StoreFaults;
  readonly spoolFaults: SpoolFaults;
  /** Rate at which the receiver of transitions fails. */
  readonly receiverFails: number;
  /** Rate of steps with a sale of the partner's own shop; 0 without a shop. */
  readonly shop: number;
  /** Rate at which the first try to ship an order crashes its process. */
  readonly handlerCrashes: number;
  /** Rate of steps in which a clerk delivers or refunds an order by hand. */
  readonly clerk: number;
  /** Rate of steps in which the service contradicts itself about an order. */
  readonly restates: number;
  /** Whether processes are replaced by ones that fold in another way. */
  readonly upgrades: boolean;
  /** Whether a person recovers once all is healed, before anybody polls. */
  readonly recovers: boolean;
  /** What is hostile in it. */
  readonly attack: Attack;
}

const DAY_MS = 86_400_000;

/** The faults that are rates. */
type Rate = Exclude<
  keyof Faults,
  "endpointDown" | "endpointDownSpans" | "clockSkewMs"
>;

/** Rates that can be set, with the most each is set to. */
const SERVICE: readonly (readonly [Rate, number])[] = [
  ["drop", 0.3],
  ["duplicate", 0.4],
  ["delay", 0.4],
  ["reorder", 0.4],
  ["forge", 0.3],
  ["unknownType", 0.2],
  ["malformed", 0.15],
  ["answerLost", 0.3],
  ["requestLost", 0.3],
  ["apiTooManyRequests", 0.15],
  ["apiServerError", 0.15],
  ["apiTimeout", 0.05],
  ["apiSlowBody", 0.1],
  ["pageInsert", 0.04],
  ["pageChange", 0.1],
  ["pageShort", 0.4],
  ["sameSecond", 0.5],
  ["totalWrong", 0.4],
  ["totalMissing", 0.4],
];

/** Faults of the service: some of them, some of them often. */
export function serviceFaults(dice: Dice): Partial<Faults> {
  const faults: Partial<Record<Rate, number>> = {};
  for (const [name, most] of SERVICE) {
    faults[name] = dice.chance(0.4) ? dice.unit() * most : 0;
  }
  return faults;
}

function storeFaults(dice: Dice): StoreFaults {
  const some = (most: number) => dice.chance(0.5) ? dice.unit() * most : 0;
  return {
    busy: some(0.08),
    full: some(0.04),
    unreachable: some(0.05),
    answerLost: some(0.08),
    crashBefore: some(0.006),
    crashWithin: some(0.01),
    crashAfter: some(0.01),
    slow: some(0.04),
  };
}

/** Half of the seeds have a shop. Its dice are its own, as its orders are. */
function shopOf(dice: Dice): Pick<Plan, "shop" | "handlerCrashes"> {
  if (dice.chance(0.5)) return { shop: 0, handlerCrashes: 0 };
  return {
    shop: 0.3 + dice.unit() * 0.4,
    handlerCrashes: dice.chance(0.7) ? dice.unit() : 0,
  };
}

/** Half of the seeds have a clerk, with a shop or without one. */
function clerkOf(dice: Dice): number {
  return dice.chance(0.5) ? 0.2 + dice.unit() * 0.4 : 0;
}

/** A third of the seeds have orders of which the service says odd things. */
function restatesOf(dice: Dice): number {
  return dice.chance(0.35) ? 0.3 + dice.unit() * 0.4 : 0;
}

/** Decides how a run will be. */
export function planOf(dice: Dice): Plan {
  const calm = dice.chance(0.1);
  const start = Date.parse("2026-03-01T00:00:00Z");
  return {
    startMs: start + dice.int(0, 200 * DAY_MS),
    steps: dice.int(6, 20),
    past: dice.chance(0.35) ? dice.int(15, 45) : 0,
    shape: dice.weighted<Shape>([[3, "together"], [4, "apart"], [
      2,
      "rivals",
    ]]),
    spool: dice.chance(0.6),
    running: dice.chance(0.3),
    jitterMs: dice.chance(0.5) ? dice.int(1, 40) : 0,
    pace: dice.weighted<Plan["pace"]>([
      [4, "seconds"],
      [4, "minutes"],
      [1, "hours"],
    ]),
    disableRule: dice.weighted<DisableRule>([
      [3, "ladder_from_previous"],
      [2, "ladder_from_first"],
      [1, "first_failure"],
    ]),
    cancelSpelling: dice.chance(0.5) ? "order_cancelled" : "order_canceled",
    service: calm ? {} : {
      ...serviceFaults(dice),
      clockSkewMs: dice.chance(0.5) ? dice.int(-600_000, 600_000) : 0,
    },
    store: calm ? { ...storeFaults(dice), slow: 0 } : storeFaults(dice),
    spoolFaults: {
      refuses: dice.chance(0.3) ? dice.unit() * 0.3 : 0,
      crash: dice.chance(0.3) ? dice.unit() * 0.1 : 0,
    },
    receiverFails: dice.chance(0.4) ? dice.unit() * 0.2 : 0,
    ...shopOf(dice.fork("shop")),
    clerk: clerkOf(dice.fork("clerk")),
    restates: restatesOf(dice.fork("restated orders")),
    upgrades: dice.chance(0.25),
    recovers: dice.chance(0.4),
    attack: attackOf(dice.fork("attack")),
  };
}
