import { orderOf } from "../rules/disagreements.ts";
import type { Inspector } from "../rules/inspector.ts";
import { lookAtReleases } from "./served.ts";
import { addOne, check } from "../world/journal.ts";
import { areClocksTrue } from "../rules/true_clocks.ts";
import { playHandReleases } from "./hand_scenes.ts";
import { complete, known, orderBasket } from "./scene_steps.ts";
import type { World } from "../world/world.ts";

const minuteMs = 60_000;

/** Names of the scenes, as they are counted. */
export const RELEASE_SCENE_NAMES: readonly string[] = [
  "cancelled while the shop was down",
  "success taken back while the shop was down",
  "order no longer shown",
  "claw-back of a past order",
];

/** What a shop still meets when the service is quiet. */
export async function playReleases(
  world: World,
  inspector: Inspector,
): Promise<void> {
  const { plan, dice } = world;
  const own = dice.fork("release scenes");
  if (!areClocksTrue(world)) return;
  if (plan.past > 0 && own.chance(0.5)) await clawBackPast(world, inspector);
  if (plan.shop === 0) return;
  if (own.chance(0.3)) await reverseWhileDown(world, inspector, "cancelled");
  if (own.chance(0.3)) await reverseWhileDown(world, inspector, "pending");
  if (own.chance(0.3)) await vanish(world, inspector);
  await playHandReleases(world, inspector, world.dice.fork("hand scenes"));
}

/**
 * An order is paid while the partner's server is down, and its success is taken
 * back before that is up again: nothing is shipped. A success that is there
 * again is shipped after all.
 */
async function reverseWhileDown(
  world: World,
  inspector: Inspector,
  status: "cancelled" | "pending",
): Promise<void> {
  const { sandbox, clock, shop, journal } = world;
  const [order] = await orderBasket(world) ?? [];
  if (order === undefined) return;
  const { orderId } = order;
  const isShipped = () => shop.shipments.some((one) => one.orderId === orderId);
  world.receiverFails = 1;
  await complete(world, inspector, order);
  sandbox.amendOrder(orderId, { status });
  await known(world, inspector, order, (state) => state.status === status);
  world.receiverFails = 0;
  await clock.advance(30 * minuteMs);
  await inspector.look();
  check(
    "nothing is shipped that was withdrawn while the shop was down",
    !isShipped(),
    () => `order ${orderId}, ${status}, is shipped`,
  );
  if (status === "cancelled") {
    addOne(journal.chores, "cancelled while the shop was down");
    return;
  }
  sandbox.amendOrder(orderId, { status: "success" });
  await known(world, inspector, order, (state) => state.status === "success");
  await clock.advance(30 * minuteMs);
  await inspector.look();
  // A row that leaves out what was asked for releases nothing by itself.
  if ((await orderOf(world, orderId))?.facts.match === "incomplete") return;
  check(
    "what is released again is shipped",
    isShipped(),
    () => `order ${orderId} is a success again, and not shipped`,
  );
  addOne(journal.chores, "success taken back while the shop was down");
}

/** The service no longer shows an order that was shipped. */
async function vanish(world: World, inspector: Inspector): Promise<void> {
  const { sandbox, journal } = world;
  const [order] = await orderBasket(world) ?? [];
  if (order === undefined) return;
  const { orderId } = order;
  await complete(world, inspector, order);
  journal.removed.set(orderId, sandbox.order(orderId) ?? order);
  sandbox.removeOrder(orderId);
  await known(
    world,
    inspector,
    order,
    ({ outcome }) => outcome === "no_longer_shown",
  );
  await lookAtReleases(world);
  addOne(journal.chores, "order no longer shown");
}

/** A success from before the ledger went live is taken back now. */
async function clawBackPast(
  world: World,
  inspector: Inspector,
): Promise<void> {
  const { sandbox, clock, plan, journal } = world;
  const order = sandbox.orders().find(({ orderId, changedAtMs, status }) =>
    status === "success" && changedAtMs < plan.startMs &&
    sandbox.oddFields(orderId).length === 0 && !sandbox.refuses(orderId)
  );
  if (order === undefined) return;
  const { orderId } = order;
  // What is first read as cancelled had never been a success here.
  const before = await orderOf(world, orderId);
  if (before?.confirmed?.status !== "success") return;
  sandbox.advance(orderId, "cancel");
  await known(world, inspector, order, ({ outcome }) => outcome === "reversed");
  await clock.advance(30 * minuteMs);
  await inspector.look();
  check(
    "a claw-back of an order from before the ledger went live is told",
    journal.told.has(`order:${orderId}:confirmed.cancelled`) &&
      journal.told.has(`order:${orderId}:release.no`),
    () => `nobody was told that order ${orderId} is cancelled`,
  );
  addOne(journal.chores, "claw-back of a past order");
}
