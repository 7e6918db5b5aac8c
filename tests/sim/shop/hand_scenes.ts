import { orderOf } from "../rules/disagreements.ts";
import { type ReleaseByHand, ReleaseError } from "../../../ledger/mod.ts";
import type { SandboxOrder } from "../../../sandbox/mod.ts";
import type { Inspector } from "../rules/inspector.ts";
import type { Dice } from "../world/dice.ts";
import { inProcess } from "../rules/in_process.ts";
import { addOne, Broken, check } from "../world/journal.ts";
import type { World } from "../world/world.ts";
import { complete, known, orderBasket } from "./scene_steps.ts";
import { lookAtReleases } from "./served.ts";

const minuteMs = 60_000;

type Outcome = ReleaseByHand["outcome"];

/** Names of the scenes, as they are counted. */
export const HAND_SCENE_NAMES: readonly string[] = [
  "refunded before it was shipped",
  "paid anew after it was refunded",
  "second payment delivered before the first was shipped",
  "delivered by hand and taken back",
  "refunded after it was shipped",
];

/** What a person does about orders when the service is quiet. */
export async function playHandReleases(
  world: World,
  inspector: Inspector,
  dice: Dice,
): Promise<void> {
  for (
    const play of [refund, payAnew, deliverSecond, takeBack, refundShipped]
  ) {
    if (dice.chance(0.25)) await play(world, inspector);
  }
}

/**
 * Two orders pay one basket while the shop is down, and the money of the first
 * is paid back: that frees nothing, and a person decides about the second.
 */
async function refund(world: World, inspector: Inspector): Promise<void> {
  const paid = await payTwice(world, inspector, true);
  if (paid === null) return;
  const [first] = paid;
  await record(world, first, "refunded");
  await opens(world, inspector);
  await shipsOnly(world, paid, null);
  addOne(world.journal.chores, "refunded before it was shipped");
}

/**
 * An order is paid back while the shop is down, and then paid by another one: a
 * person decides about that.
 */
async function payAnew(world: World, inspector: Inspector): Promise<void> {
  world.receiverFails = 1;
  const [first, second] = await orderBasket(world, 2) ?? [];
  if (first === undefined || second === undefined) return;
  await complete(world, inspector, first);
  await record(world, first, "refunded");
  await complete(world, inspector, second);
  await opens(world, inspector);
  await shipsOnly(world, [first, second], null);
  addOne(world.journal.chores, "paid anew after it was refunded");
}

/**
 * Two orders pay one basket while the shop is down, and a person hands the
 * basket out for the second of them: the first is shipped no more. It is paid back,
 * and then the basket is paid a third time.
 */
async function deliverSecond(
  world: World,
  inspector: Inspector,
): Promise<void> {
  const paid = await payTwice(world, inspector, true);
  if (paid === null) return;
  const [first, second, third] = paid;
  await record(world, second, "delivered");
  await opens(world, inspector);
  await shipsOnly(world, [first, second], null);
  await record(world, first, "refunded");
  await complete(world, inspector, third);
  await opens(world, inspector);
  await shipsOnly(world, paid, null);
  addOne(
    world.journal.chores,
    "second payment delivered before the first was shipped",
  );
}

/**
 * A person hands a basket out while the shop is down, and the service cancels:
 * the log says that what was given has to come back.
 */
async function takeBack(world: World, inspector: Inspector): Promise<void> {
  const [order] = await orderBasket(world) ?? [];
  if (order === undefined) return;
  await known(world, inspector, order, ({ confirmed }) => confirmed !== null);
  await record(world, order, "delivered");
  await complete(world, inspector, order);
  world.sandbox.amendOrder(order.orderId, { status: "cancelled" });
  await known(world, inspector, order, ({ release }) => release === "no");
  await opens(world, inspector);
  await shipsOnly(world, [order], null);
  addOne(world.journal.chores, "delivered by hand and taken back");
}

/** The money of an order that was shipped is paid back all the same. */
async function refundShipped(
  world: World,
  inspector: Inspector,
): Promise<void> {
  const paid = await payTwice(world, inspector, false);
  if (paid === null) return;
  const [first] = paid;
  await record(world, first, "refunded");
  await opens(world, inspector);
  await shipsOnly(world, paid, first);
  addOne(world.journal.chores, "refunded after it was shipped");
}

/**
 * Two of three orders of one basket are paid, one after the other.
 *
 * @param isDown Whether the shop is down meanwhile.
 */
async function payTwice(
  world: World,
  inspector: Inspector,
  isDown: boolean,
): Promise<readonly [SandboxOrder, SandboxOrder, SandboxOrder] | null> {
  if (isDown) world.receiverFails = 1;
  const [first, second, third] = await orderBasket(world, 3) ?? [];
  if (!first || !second || !third) return null;
  await complete(world, inspector, first);
  if (!isDown) await opens(world, inspector);
  await complete(world, inspector, second);
  return [first, second, third];
}

async function record(
  world: World,
  { orderId }: SandboxOrder,
  outcome: Outcome,
): Promise<void> {
  const release = {
    ...{ outcome, by: "clerk of a scene", why: "played" },
    confirmed: true,
  };
  const limitMs = 60 * minuteMs;
  const { shop } = world;
  const [own] = shop.referencesOf(shop.orders.get(orderId)?.clickId ?? "");
  let reference: string | null = null;
  await world.clock.advance(minuteMs);
  await inProcess(world, world.front, async ({ ledger }) => {
    const before = await ledger.handRelease(orderId);
    if (before !== null) return;
    await ledger.release(orderId, release).catch((error) => {
      if (!(error instanceof ReleaseError)) throw error;
      // What was asked for did not arrive; the shop knows the basket.
      if (error.code !== "reference_missing" || own === undefined) throw error;
      reference = own;
      return ledger.release(orderId, {
        ...release,
        ...{ for: own, newReference: true },
      });
    }).catch((error) => {
      if (!(error instanceof ReleaseError)) throw error;
      throw new Broken("what a person did is kept", error.message);
    });
  }, limitMs);
  shop.byHand.set(orderId, { outcome, reference });
}

/** The shop is up, and has the time to ship. */
async function opens(world: World, inspector: Inspector): Promise<void> {
  world.receiverFails = 0;
  await world.clock.advance(30 * minuteMs);
  await inspector.look();
  await lookAtReleases(world);
}

/** Of some orders of one basket one is shipped, or none. */
async function shipsOnly(
  world: World,
  orders: readonly SandboxOrder[],
  only: SandboxOrder | null,
): Promise<void> {
  const { shop } = world;
  // A row that leaves out what was asked for releases nothing by itself.
  const state = only === null ? null : await orderOf(world, only.orderId);
  if (state?.facts.match === "incomplete") return;
  const ids = new Set(orders.map(({ orderId }) => orderId));
  const shipped = shop.shipments.map(({ orderId }) => orderId)
    .filter((orderId) => ids.has(orderId));
  check(
    "what a person did decides which order of a basket is shipped",
    shipped.join() === (only?.orderId ?? ""),
    () =>
      `${shipped.join() || "nothing"} is shipped, and not ` +
      `${only?.orderId ?? "nothing"}`,
  );
}
