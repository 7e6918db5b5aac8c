import type { Inspector } from "../rules/inspector.ts";
import { isOdd } from "../chores/odd_ones.ts";
import { pollOnce } from "../rules/convergence.ts";
import type { Dice } from "./dice.ts";
import { check } from "./journal.ts";
import { soundOrder } from "./sound_order.ts";
import { passing } from "./virtual_time.ts";
import type { World } from "./world.ts";

const RULE = "a reference means the orders that the service shows under it";
const minuteMs = 60_000;

/**
 * A forger who guesses the click ids of baskets posts webhooks that name them
 * with invented orders, before and after somebody buys.
 */
export async function spoilReferences(
  world: World,
  inspector: Inspector,
  dice: Dice,
): Promise<void> {
  const { clock, journal } = world;
  const first = dice.int(1e6, 9e6);
  const clickIds = [0, 1, 2].map((n) => `basket-${first + n}`);
  const spoil = async () => {
    for (const click_id of clickIds) {
      journal.count("forged reference");
      const id = dice.chance(0.3) ? click_id : `01SPOIL${dice.int(1e9, 9e9)}`;
      const body = { type: "order_complete", click_id, order: { id } };
      await passing(
        clock,
        world.post(new TextEncoder().encode(JSON.stringify(body))),
        minuteMs,
      );
    }
  };
  await spoil();
  const [clickId = "", ...others] = clickIds;
  const order = soundOrder(world, { clickId });
  for (let polls = 0; polls < 4; polls++) {
    await spoil();
    await pollOnce(world, inspector);
  }
  const { incarnation } = world.front;
  if (incarnation === null) return;
  const { orders } = incarnation.ledger;
  const { confirmed, claimed } = await passing(
    clock,
    orders.find(clickId),
    10 * minuteMs,
  );
  const meant = confirmed.map(({ orderId }) => orderId);
  // Orders made in search of a sound one are under the same click id.
  const bought = world.sandbox.orders()
    .filter((one) => one.clickId === clickId)
    .map(({ orderId }) => orderId);
  // An odd row may hide its order or its click id, and needs to do neither.
  const shown = bought.filter((orderId) => !isOdd(world, orderId));
  check(
    RULE,
    shown.includes(order.orderId) &&
      shown.every((orderId) => meant.includes(orderId)) &&
      meant.every((orderId) => bought.includes(orderId)) &&
      claimed.length > 0,
    () =>
      `${clickId} means ${meant.join(", ")}, the service shows ` +
      `${shown.join(", ")}; ${claimed.length} are claimed`,
  );
  for (const other of others) {
    const found = await passing(clock, orders.find(other), 10 * minuteMs);
    check(
      RULE,
      found.confirmed.length === 0,
      () => `${other} means orders that only a forger names with it`,
    );
  }
}
