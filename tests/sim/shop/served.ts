import type { OrderState } from "../../../ledger/mod.ts";
import { Broken, check } from "../world/journal.ts";
import { isPast } from "../rules/is_past.ts";
import { areClocksTrue } from "../rules/true_clocks.ts";
import { passing } from "../world/virtual_time.ts";
import type { World } from "../world/world.ts";
import { rows } from "../rules/disagreements.ts";

const hourMs = 3_600_000;
const onTheWay = ["created", "progress", "pending", "success"];

/** The reason of the last entry of an order in the release log. */
const lastReason = `(SELECT t.reason FROM transitions AS t
  WHERE t.entity = 'order' AND t.machine = 'release'
    AND t.entity_id = o.order_id ORDER BY t.seq DESC LIMIT 1)`;

/**
 * Holds that nobody waits once everything is quiet: what was paid is shipped,
 * or a person is told.
 *
 * @throws {Broken} When a customer waits.
 */
export async function served(world: World): Promise<void> {
  if (areClocksTrue(world)) shipped(world);
  await lookAtReleases(world);
}

/** Each payment beyond doubt was shipped, or another one of its purchase. */
function shipped({ shop, sandbox }: World): void {
  const purchases = new Set(shop.shipments.map(({ purchase }) => purchase));
  for (const { orderId, sureOf } of shop.orders.values()) {
    const order = sandbox.order(orderId);
    if (sureOf === null || order === null) continue;
    const isPaid = order.status === "success" &&
      order.history.every(({ status }) => onTheWay.includes(status));
    if (!isPaid || shop.amended.has(orderId)) continue;
    if (sandbox.oddFields(orderId).length > 0) continue;
    if (sandbox.refuses(orderId)) continue;
    check(
      "every payment of what was recorded is shipped",
      purchases.has(sureOf),
      () => `order ${orderId} is paid, and ${sureOf} is not shipped`,
    );
  }
}

/**
 * Holds that a person is told of each success that is not released, and of
 * none that is released. A ledger that compares nothing tells so once.
 *
 * @throws {Broken} When a success is nobody's task.
 */
export async function lookAtReleases(world: World): Promise<void> {
  const { front, clock } = world;
  if (front.incarnation === null) {
    throw new Broken("processes come back", "the endpoint is down");
  }
  const { ledger } = front.incarnation;
  const listed = new Map<string, string>();
  await passing(
    clock,
    (async () => {
      for await (const { order, kinds } of ledger.attention()) {
        listed.set(order.orderId, kinds.join(" "));
      }
    })(),
    hourMs,
  );
  const [recorded] = await rows(
    world,
    `SELECT 1 FROM events WHERE kind IN ('session_created', 'order_expected')
      LIMIT 1`,
  );
  const orders = await rows(
    world,
    `SELECT o.order_id, o.state, ${lastReason} FROM orders AS o
      WHERE o.generation =
          (SELECT generation FROM projections WHERE name = 'live')
        AND o.trust = 'confirmed'`,
  );
  for (const [id, text, reason] of orders) {
    const { facts, release, releaseReason } = JSON.parse(
      String(text),
    ) as OrderState;
    const tasks = listed.get(String(id));
    const isReleased = reason === "session_matched";
    const order = world.sandbox.order(String(id));
    // What had ended before is listed for fourteen days at most.
    if (order !== null && isPast(world, order)) continue;
    // The state of an order does not know of other orders.
    if (reason === "paid_twice") continue;
    if (facts.shown === "success" && !isReleased && recorded !== undefined) {
      check(
        "each success that is not released is somebody's task",
        tasks !== undefined,
        () => `order ${id} is ${release} ${releaseReason}, and nobody is told`,
      );
    }
    check(
      "nothing that is released waits for a person",
      !isReleased || tasks === undefined,
      () => `order ${id} is released, and listed as ${tasks}`,
    );
  }
}
