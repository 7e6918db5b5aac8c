import { act, actLast, restate } from "./chores/actions.ts";
import { dealByHand } from "./shop/clerk.ts";
import { sell } from "./shop/shop_chores.ts";
import { doChore } from "./chores/chores.ts";
import { converge } from "./rules/convergence.ts";
import type { Dice } from "./world/dice.ts";
import { Inspector } from "./rules/inspector.ts";
import { Broken } from "./world/journal.ts";
import type { Plan } from "./world/plan.ts";
import type { Ports } from "./world/ports.ts";
import { onVirtualTime, passing } from "./world/virtual_time.ts";
import { playScenes } from "./world/scenes.ts";
import { forge, nameAtLength } from "./chores/forger.ts";
import { clickOfCrowd, World } from "./world/world.ts";

/** How often a step brings what people do with the ledger. */
const choreRate = 0.15;

/** How to run one seed. */
export interface SimulateOptions {
  /** Decides everything. */
  readonly seed: number;
  /** Ports that break a rule on purpose. */
  readonly ports?: Partial<Ports>;
  /** Path of a database file that does not exist; memory when left out. */
  readonly file?: string;
}

/** What one run came to. */
export interface SimReport {
  readonly seed: number;
  /** The rule that was broken, and how; null when all held. */
  readonly broken: { readonly rule: string; readonly detail: string } | null;
  /** Steps until everything healed. */
  readonly steps: number;
  /** Time that passed, in milliseconds of the clock. */
  readonly virtualMs: number;
  /** Orders at the service. */
  readonly orders: number;
  /** Events in the ledger. */
  readonly events: number;
  /** Hash of the evidence chain: the same seed gives the same. */
  readonly hash: string;
  /** Faults that struck, by kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** What people did with the ledger and finished, by kind. */
  readonly chores: Readonly<Record<string, number>>;
  /** From healing to agreement with the service, in virtual milliseconds. */
  readonly agreedAfterMs: number | null;
}

/** Runs one seed from nothing to the end. Never throws what a run found. */
export async function simulate(options: SimulateOptions): Promise<SimReport> {
  const world = new World(options);
  return await onVirtualTime(world.clock, async () => {
    const inspector = new Inspector(world);
    let broken: SimReport["broken"] = null;
    let agreedAfterMs: number | null = null;
    let steps = 0;
    try {
      const dice = world.dice.fork("steps");
      const chores = world.dice.fork("chores");
      const hostile = world.dice.fork("hostile");
      const shop = world.dice.fork("shop");
      const odd = world.dice.fork("restated orders");
      const clerk = world.dice.fork("clerk");
      const long = world.dice.fork("long ids");
      const { attack } = world.plan;
      if (world.plan.past > 0) {
        world.sandbox.backfill({
          orders: world.plan.past,
          fromMs: world.plan.startMs - 20 * 86_400_000,
          untilMs: world.plan.startMs,
        });
      }
      if (attack.crowd > 0) {
        world.sandbox.backfill({
          orders: attack.crowd,
          fromMs: world.plan.startMs - 30 * 86_400_000,
          untilMs: world.plan.startMs - 20 * 86_400_000,
          clickId: clickOfCrowd,
        });
      }
      for (; steps < world.plan.steps; steps++) {
        for (let more = dice.int(1, 5); more > 0; more--) act(world, dice);
        if (chores.chance(choreRate)) doChore(world, chores);
        if (shop.chance(world.plan.shop)) sell(world, shop);
        if (odd.chance(world.plan.restates)) restate(world, odd);
        if (clerk.chance(world.plan.clerk)) dealByHand(world, clerk);
        if (hostile.chance(attack.forger)) forge(world, hostile);
        if (hostile.chance(attack.clockSetBack)) world.setClockBack();
        if (long.chance(attack.longIds)) nameAtLength(world, long);
        await world.clock.advance(pauseMs(world.plan, dice));
        await inspector.look();
      }
      actLast(world, dice);
      await world.clock.settle();
      agreedAfterMs = await converge(world, inspector);
      await playScenes(world, inspector);
      for (const process of world.processes) {
        await passing(world.clock, process.stop(), 3_600_000);
      }
      await inspector.look();
      await inspector.lookBack();
    } catch (error) {
      broken = error instanceof Broken
        ? { rule: error.rule, detail: error.message }
        : {
          rule: "the simulation itself",
          detail: error instanceof Error
            ? error.stack ?? error.message
            : String(error),
        };
    }
    const report: SimReport = {
      seed: options.seed,
      broken,
      steps,
      virtualMs: world.clock.now() - world.plan.startMs,
      orders: world.sandbox.orders().length,
      events: inspector.events,
      hash: inspector.hash(),
      faults: faultsOf(world),
      chores: Object.fromEntries(world.journal.chores),
      agreedAfterMs,
    };
    for (const process of world.processes) process.kill();
    await world.close();
    await world.clock.settle();
    return report;
  });
}

function pauseMs({ pace }: Plan, dice: Dice): number {
  switch (pace) {
    case "seconds":
      return dice.chance(0.1) ? dice.int(60_000, 900_000) : dice.int(0, 15_000);
    case "minutes":
      return dice.chance(0.1)
        ? dice.int(900_000, 7_200_000)
        : dice.int(0, 600_000);
    case "hours":
      return dice.chance(0.3)
        ? dice.int(0, 60_000)
        : dice.int(0, 3 * 3_600_000);
  }
}

/** Faults of the service, the stores and the processes together. */
function faultsOf(world: World): Record<string, number> {
  const faults: Record<string, number> = Object.fromEntries(
    world.journal.faults,
  );
  const quiet = new Set(["events", "attempts", "received", "apiRequests"]);
  for (const [name, count] of Object.entries(world.sandbox.counters)) {
    if (!quiet.has(name) && count > 0) faults[name] = count;
  }
  return faults;
}
