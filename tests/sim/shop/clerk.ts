import {
  type Ledger,
  type ReleaseByHand,
  ReleaseError,
} from "../../../ledger/mod.ts";
import { eventsIn } from "../rules/stored.ts";
import type { Dice } from "../world/dice.ts";
import { addOne, check } from "../world/journal.ts";
import type { World } from "../world/world.ts";

/** Names of what clerks do, as they are counted. */
export const CLERK_NAMES: readonly string[] = [
  "delivered by hand",
  "refunded by hand",
  "delivered for another reference",
  "refused by hand",
];

/** A clerk hands goods out, or gives money back, and records it. */
export function dealByHand(world: World, dice: Dice): void {
  const { incarnation, life } = dice.pick(world.processes);
  if (incarnation === null) return;
  const own = dice.fork(`clerk ${dice.int(0, 1e9)}`);
  // A process that crashes takes with it what is done in it.
  world.background(
    Promise.race([deal(world, incarnation.ledger, own), life.died]),
  );
}

async function deal(world: World, ledger: Ledger, dice: Dice): Promise<void> {
  const orderId = await pickOrder(world, ledger, dice);
  if (orderId === null) return;
  await record(world, ledger, orderId, decide(world, dice, orderId));
  // Another clerk, who does not know of it.
  if (dice.chance(0.15)) {
    const other = dice.pick(world.processes).incarnation?.ledger ?? ledger;
    await record(world, other, orderId, decide(world, dice, orderId));
  }
}

/** An order that waits for a person, or that a customer asks about. */
async function pickOrder(
  { shop, sandbox }: World,
  ledger: Ledger,
  dice: Dice,
): Promise<string | null> {
  if (dice.chance(0.5)) {
    const waiting: string[] = [];
    for await (const { order } of ledger.attention()) {
      waiting.push(order.orderId);
    }
    if (waiting.length > 0) return dice.pick(waiting);
  }
  const bought = [...shop.orders.keys()];
  if (bought.length > 0 && dice.chance(0.8)) return dice.pick(bought);
  const all = sandbox.orders();
  return all.length === 0 ? null : dice.pick(all).orderId;
}

function decide({ shop }: World, dice: Dice, orderId: string): ReleaseByHand {
  const why = "told at the counter";
  const by = `clerk ${dice.int(1, 1e9)}`;
  const confirmed = dice.chance(0.8);
  const outcome = dice.pick(["refunded", "delivered", "written_off"] as const);
  if (outcome !== "delivered") return { outcome, by, why, confirmed };
  const clickId = shop.orders.get(orderId)?.clickId ?? "";
  const own = shop.referencesOf(clickId);
  const all = shop.references();
  const among = own.length > 0 && dice.chance(0.7) ? own : all;
  const named = among.length > 0 && dice.chance(0.7) ? dice.pick(among) : null;
  return {
    outcome: "delivered",
    by,
    why,
    confirmed,
    ...(named === null ? {} : { for: named, newReference: dice.chance(0.5) }),
  };
}

async function record(
  world: World,
  ledger: Ledger,
  orderId: string,
  release: ReleaseByHand,
): Promise<void> {
  const { shop, journal } = world;
  // It may be read while the clerk is refused.
  const wasShown = await isShown(world, orderId);
  try {
    await ledger.release(orderId, release);
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    addOne(journal.chores, "refused by hand");
    return await isRefusedRightly(world, orderId, { release, wasShown }, error);
  }
  const reference = release.for ?? null;
  addOne(journal.chores, `${release.outcome} by hand`);
  if (reference !== null) {
    addOne(journal.chores, "delivered for another reference");
  }
  shop.byHand.set(orderId, { outcome: release.outcome, reference });
}

/** While another version of the fold takes over, states may be behind. */
async function isShown(world: World, orderId: string): Promise<boolean> {
  const folded = await eventsIn(
    world,
    "position <= (SELECT position FROM ledger)",
  );
  return folded.some((event) =>
    event.orderId === orderId && event.kind === "order_snapshot"
  );
}

async function isRefusedRightly(
  world: World,
  orderId: string,
  { release: { outcome, for: reference, confirmed, newReference }, wasShown }: {
    readonly release: ReleaseByHand;
    readonly wasShown: boolean;
  },
  { code, message }: ReleaseError,
): Promise<void> {
  const before = (await eventsIn(world)).some((event) =>
    event.orderId === orderId && event.kind === "order_released"
  );
  // Who has confirmed is refused where another clerk was first.
  const isRight = code === "needs_confirmation"
    ? confirmed !== true || before
    : code === "reference_unknown"
    ? newReference !== true
    : code === "not_shown"
    ? !wasShown
    : code === "reference_missing"
    ? outcome === "delivered" && reference === undefined &&
      await isShown(world, orderId)
    : code === "unknown_order";
  check(
    "a release by hand is refused for a reason",
    isRight,
    () => `order ${orderId}, ${outcome}: ${message}`,
  );
}
