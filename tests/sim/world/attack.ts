import type { Faults, OrderForm } from "../../../sandbox/mod.ts";
import type { Dice } from "./dice.ts";

/** What somebody hostile, or a service at fault, does in a run. */
export interface Attack {
  /** Faults of rows and ids that are never healed. */
  readonly lasting: Partial<Faults>;
  /** Faults of rows, ids and answers that end when everything heals. */
  readonly passing: Partial<Faults>;
  /** Rate of steps with a forgery. */
  readonly forger: number;
  /** Orders of the past that share one click id. */
  readonly crowd: number;
  /** Form of the orders endpoint. */
  readonly form: OrderForm;
  /** Whether no answer of the service bears a date. */
  readonly noDate: boolean;
  /** Rate of steps at which our own clock is set back by ten minutes. */
  readonly clockSetBack: number;
  /** Whether one order must get through a siege in the end. */
  readonly siege: boolean;
  /** Whether delivery dies in the end while a forger plays its part. */
  readonly deadDelivery: boolean;
  /** Whether a shop of one order a day is watched in the end. */
  readonly slowShop: boolean;
  /** Whether a past that nobody has read is compared in the end. */
  readonly unreadPast: boolean;
  /** Whether an order is asked for beside a refused id in the end. */
  readonly refusedBeside: boolean;
  /** Whether an order is clawed back in the end, soon after its success. */
  readonly clawBack: boolean;
  /** Whether readings of a user arrive in another order in the end. */
  readonly lateReading: boolean;
  /** Whether the endpoint is stuffed with large bodies in the end. */
  readonly stuffing: boolean;
  /** Whether webhooks name baskets of others with invented orders in the end. */
  readonly spoiling: boolean;
  /** Rate of steps with a webhook whose identifiers are too long to be any. */
  readonly longIds: number;
}

/** Most that each lasting fault is set to; 0 switches it off. */
const LASTING = {
  oddRow: 0.15,
  rowWithoutId: 0.05,
  timeAhead: 0.12,
  refusedId: 0.08,
} as const satisfies Partial<Faults>;

/** Most that each passing fault is set to; 0 switches it off. */
const PASSING = {
  wrongDate: 0.3,
  endlessCursor: 0.5,
} as const satisfies Partial<Faults>;

/** Share of seeds that know each of the others; 0 switches it off. */
const SHARES = {
  forger: 0.4,
  crowd: 0.15,
  earlierForm: 0.2,
  clockSetBack: 0.2,
  siege: 0.2,
  deadDelivery: 0.15,
  clawBack: 0.15,
  unreadPast: 0.15,
  refusedBeside: 0.15,
  noDate: 0.1,
  lateReading: 0.15,
  slowShop: 0.1,
  stuffing: 0.2,
  spoiling: 0.25,
  longIds: 0.2,
};

/** Decides what a run is attacked by. */
export function attackOf(dice: Dice): Attack {
  const some = (most: number) => dice.chance(0.4) ? dice.unit() * most : 0;
  const rates = (
    table: Readonly<Record<string, number>>,
  ): Record<string, number> =>
    Object.fromEntries(
      Object.entries(table).map(([name, most]) => [name, some(most)]),
    );
  const lasting = rates(LASTING);
  const passing = rates(PASSING);
  // What ends with the others may leave nothing behind.
  for (const name of Object.keys(lasting)) {
    if (!dice.chance(0.4)) continue;
    passing[name] = lasting[name] ?? 0;
    lasting[name] = 0;
  }
  const crowd = dice.chance(SHARES.crowd) ? dice.int(45, 120) : 0;
  return {
    lasting,
    passing,
    forger: crowd > 0 || dice.chance(SHARES.forger)
      ? 0.2 + dice.unit() * 0.6
      : 0,
    crowd,
    form: dice.chance(SHARES.earlierForm) ? "earlier" : "current",
    clockSetBack: dice.chance(SHARES.clockSetBack) ? 0.08 : 0,
    siege: dice.chance(SHARES.siege),
    deadDelivery: dice.chance(SHARES.deadDelivery),
    clawBack: dice.chance(SHARES.clawBack),
    unreadPast: dice.chance(SHARES.unreadPast),
    refusedBeside: dice.chance(SHARES.refusedBeside),
    noDate: dice.chance(SHARES.noDate),
    lateReading: dice.chance(SHARES.lateReading),
    slowShop: dice.chance(SHARES.slowShop),
    stuffing: dice.chance(SHARES.stuffing),
    spoiling: dice.chance(SHARES.spoiling),
    longIds: dice.chance(SHARES.longIds) ? 0.3 : 0,
  };
}
