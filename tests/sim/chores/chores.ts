import { race } from "./actions.ts";
import { backUp, exportAndImport } from "./copy_chores.ts";
import type { Dice } from "../world/dice.ts";
import { eraseOne } from "./erase_chore.ts";
import { forgetSomebody } from "./forget_chore.ts";
import { FOLD_VERSIONS } from "../world/fold_versions.ts";
import type { Incarnation } from "../world/incarnation.ts";
import { addOne } from "../world/journal.ts";
import { reconcileSome } from "./reconcile_chore.ts";
import { recoverSome } from "./recover_chore.ts";
import type { World } from "../world/world.ts";

/** What people do with a ledger while it lives; false when nothing was to do. */
type Chore = (
  world: World,
  incarnation: Incarnation,
  dice: Dice,
) => Promise<boolean | void>;

/** All of it, and how often. */
const CHORES: readonly (readonly [number, readonly [string, Chore]])[] = [
  [5, ["recovery", recoverSome]],
  [4, ["comparison", reconcileSome]],
  [2, ["import", exportAndImport]],
  [2, ["backup", backUp]],
  [4, ["erasure", eraseOne]],
  [4, ["refold", refold]],
  [2, ["forgetting", forgetSomebody]],
];

/** Names of them, as they are counted. */
export const CHORE_NAMES: readonly string[] = [
  ...CHORES.map(([, [name]]) => name),
  "upgrade",
  "recovery in peace",
  "forgetting in peace",
];

/** Lets a person do something, in one of the processes. */
export function doChore(world: World, dice: Dice): void {
  const { processes, journal, plan } = world;
  const process = dice.pick(processes);
  if (plan.upgrades && dice.chance(0.2)) {
    addOne(journal.chores, "upgrade");
    process.upgrade(FOLD_VERSIONS[1]);
    return;
  }
  const [name, chore] = dice.weighted(CHORES);
  const { incarnation, life } = process;
  if (incarnation === null) return;
  const done = chore(
    world,
    incarnation,
    dice.fork(`${name} ${dice.int(0, 1e9)}`),
  );
  // A process that crashes takes with it what is done in it.
  world.background(Promise.race([
    done.then((did) => {
      if (did !== false) addOne(journal.chores, name);
    }),
    life.died,
  ]));
}

/** Everything is folded again, beside the states that others go on with. */
async function refold(
  world: World,
  { ledger }: Incarnation,
  dice: Dice,
): Promise<void> {
  for (let races = 0; races < 6; races++) {
    const delayMs = dice.int(0, 600);
    world.clock.setTimer(delayMs, () => race(world, dice));
  }
  await ledger.refold();
}
