import { isOdd, isStated } from "../chores/odd_ones.ts";
import { Broken, check } from "../world/journal.ts";
import { hadEnded, hadSucceeded } from "../rules/is_past.ts";
import { areClocksTrue } from "../rules/true_clocks.ts";
import { passing } from "../world/virtual_time.ts";
import type { World } from "../world/world.ts";
import type { SandboxOrder } from "../../../sandbox/mod.ts";
import { ordersByHand } from "../rules/hand_watch.ts";
import { purchaseOf } from "./shop.ts";
import { ordersIn, rows } from "../rules/stored.ts";

const hourMs = 3_600_000;
const onTheWay = ["created", "progress", "pending", "success"];

/** What the last entry of an order in the release log says. */
const ofLast = (what: string) =>
  `(SELECT ${what} FROM log AS t
  WHERE t.no = o.no AND t.code GLOB 'release.*' ORDER BY t.seq DESC LIMIT 1)`;

/**
 * Holds that nobody waits once everything is quiet: what was paid is shipped,
 * or a person is told.
 *
 * @throws {Broken} When a customer waits.
 */
export async function served(world: World): Promise<void> {
  if (areClocksTrue(world)) await shipped(world);
  await lookAtReleases(world);
}

/**
 * Orders that wait for a purchase which a person has to look at, or has dealt
 * with: the order that has it is not released any more, it was handed out, or
 * its money was paid back.
 */
const WAITS_FOR_PEOPLE = `SELECT o.id FROM purchases AS w
  JOIN orders AS o ON o.no = w.no
  WHERE w.held = 0 AND 'yes' IS NOT (SELECT h.release FROM purchases AS p
    JOIN orders AS h ON h.no = p.no WHERE p.name = w.name AND p.held > 0
    ORDER BY p.held DESC, p.since DESC LIMIT 1)`;

/**
 * Each payment beyond doubt was shipped, or another one of its purchase, or a
 * person dealt with it.
 */
async function shipped(world: World): Promise<void> {
  const { shop, sandbox } = world;
  const purchases = new Set(shop.shipments.map(({ purchase }) => purchase));
  for (const [orderId, { outcome, reference }] of shop.byHand) {
    if (outcome !== "delivered") continue;
    const { sureOf = null } = shop.orders.get(orderId) ?? {};
    const purchase = reference === null ? sureOf : purchaseOf(reference, "");
    if (purchase !== null) purchases.add(purchase);
  }
  const dealtWith = await ordersByHand(world);
  const waiting = await rows(world, WAITS_FOR_PEOPLE);
  const leftToPeople = new Set(waiting.map(([id]) => String(id)));
  // The earlier form of the answers has no wallet to compare.
  const without = isStated(world, "txId") ? [] : await rows(
    world,
    "SELECT id FROM orders WHERE reason = 'incomplete'",
  );
  const uncompared = new Set(without.map(([id]) => String(id)));
  for (const { orderId, sureOf } of shop.orders.values()) {
    const order = sandbox.order(orderId);
    if (sureOf === null || order === null) continue;
    const isPaid = order.status === "success" &&
      order.history.every(({ status }) => onTheWay.includes(status));
    if (!isPaid || shop.amended.has(orderId)) continue;
    if (sandbox.oddFields(orderId).length > 0) continue;
    if (sandbox.refuses(orderId)) continue;
    if (dealtWith.has(orderId) || leftToPeople.has(orderId)) continue;
    if (uncompared.has(orderId)) continue;
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
    `SELECT o.id, ${ofLast("t.more ->> 'reason'")}, ${ofLast("t.flags & 1")}
      FROM orders AS o WHERE o.trust = 'confirmed'`,
  );
  const states = await ordersIn(world);
  const dealtWith = await ordersByHand(world);
  for (const [id, reason, live] of orders) {
    const state = states.get(String(id));
    if (state === undefined) continue;
    const { facts, release, releaseReason } = state;
    const tasks = listed.get(String(id));
    const order = world.sandbox.order(String(id));
    const isReleased = reason === "session_matched";
    check(
      "an order that was paid and does not move is somebody's task",
      order === null || !isOverdue(world, order) ||
        // Who writes an order off waits for nothing of it any more.
        state.byHand?.outcome === "written_off" ||
        tasks?.includes("stuck") === true,
      () => `order ${id} is pending, and listed as ${tasks}`,
    );
    check(
      "a purchase that another order has is told as paid twice",
      reason !== "paid_twice" || dealtWith.has(String(id)) ||
        tasks?.includes("paid_twice") === true,
      () => `order ${id} waits for a purchase, and is listed as ${tasks}`,
    );
    // What had ended before is listed for fourteen days at most.
    const isOld = order !== null &&
      (hadEnded(world, order) || hadSucceeded(world, order));
    if (isOld && live !== 1) continue;
    if (facts.shown === "success" && !isReleased && recorded !== undefined) {
      check(
        "each success that is not released is somebody's task",
        tasks !== undefined || dealtWith.has(String(id)) ||
          // The earlier form of the answers has no wallet to compare.
          (facts.match === "incomplete" && facts.tx === "unstated"),
        () => `order ${id} is ${release} ${releaseReason}, and nobody is told`,
      );
    }
    check(
      "nothing that is released waits for a person",
      // But for a yes that nobody was told of, because it was historic.
      !isReleased || tasks === undefined ||
        (live !== 1 && tasks === "yes_withheld"),
      () => `order ${id} is released, and listed as ${tasks}`,
    );
  }
}

/** Paid, as confirmed by the service, and unchanged for over an hour. */
function isOverdue(world: World, order: SandboxOrder): boolean {
  const { orderId, status, changedAtMs } = order;
  const soundAndAsked = !isOdd(world, orderId) &&
    !world.sandbox.refuses(orderId);
  return status === "pending" && soundAndAsked && areClocksTrue(world) &&
    changedAtMs < world.sandbox.now() - 2 * hourMs;
}
