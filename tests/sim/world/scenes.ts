import { FINAL_READS_AFTER_MS } from "../../../ledger/testing/mod.ts";
import { reconcile } from "../../../sync/mod.ts";
import { pollOnce } from "../rules/convergence.ts";
import { orderOf } from "../rules/disagreements.ts";
import { confirmAtOnce } from "./at_once_scene.ts";
import type { Dice } from "./dice.ts";
import { contest, flood, nameRefused, nameSessions } from "../chores/forger.ts";
import { forwardEverything } from "./forwarding.ts";
import type { Inspector } from "../rules/inspector.ts";
import { forgetSomebody } from "../chores/forget_chore.ts";
import { playChain } from "../chain/chain_scene.ts";
import { inProcess } from "../rules/in_process.ts";
import { addOne, check } from "./journal.ts";
import { readLate } from "./late_reading.ts";
import { playReleases } from "../shop/release_scenes.ts";
import { isOdd } from "../chores/odd_ones.ts";
import { spoilReferences } from "./reference_scene.ts";
import { stuff } from "./stuffing.ts";
import { passing } from "./virtual_time.ts";
import { soundOrder } from "./sound_order.ts";
import { killDelivery, sellSlowly } from "./watchdog_scenes.ts";
import type { World } from "./world.ts";

const minuteMs = 60_000;

/** How long the poller of a besieged service may take to confirm an order. */
const besiegedMs = 180 * minuteMs;
const dayMs = 24 * 60 * minuteMs;

/** What each seed plays in the end, when all else is well again. */
export async function playScenes(
  world: World,
  inspector: Inspector,
): Promise<void> {
  const { attack } = world.plan;
  // The last webhooks may have met a process that was starting.
  if (world.sandbox.delivery.state === "disabled") {
    world.sandbox.enableDelivery();
  }
  const dice = world.dice.fork("scenes");
  if (attack.unreadPast) await compareUnread(world);
  if (attack.refusedBeside) await askBesideRefused(world, inspector);
  if (attack.lateReading) await readLate(world, inspector);
  if (attack.siege) await besiege(world, inspector, dice);
  else if (world.plan.running) await setClockFarBack(world, inspector);
  if (attack.clawBack) await clawBack(world, inspector, dice);
  if (attack.deadDelivery) await killDelivery(world, inspector, dice);
  if (attack.slowShop) await sellSlowly(world, inspector);
  if (attack.stuffing) await stuff(world, world.dice.fork("stuffing"));
  if (attack.spoiling) {
    await spoilReferences(world, inspector, world.dice.fork("spoiling"));
  }
  await playReleases(world, inspector);
  const forgetting = world.dice.fork("forgetting");
  if (forgetting.chance(0.2)) {
    await inProcess(
      world,
      world.front,
      (incarnation) => forgetSomebody(world, incarnation, forgetting),
      12 * 60 * minuteMs,
    );
    addOne(world.journal.chores, "forgetting in peace");
  }
  const forwarding = world.dice.fork("forwarding");
  if (forwarding.chance(0.25)) await forwardEverything(world, forwarding);
  const atOnce = world.dice.fork("at once");
  if (atOnce.chance(0.5)) await confirmAtOnce(world, inspector, atOnce);
  await playChain(world, inspector, world.dice.fork("chain"));
}

/**
 * An order that nothing is wrong with is bought and paid without a single
 * webhook, while rows, ids, headers, cursors and a forger do their worst.
 */
async function besiege(
  world: World,
  inspector: Inspector,
  dice: Dice,
): Promise<void> {
  const { sandbox, clock } = world;
  sandbox.setFaults({ wrongDate: 0.3, endlessCursor: 0.3, drop: 1 });
  for (const forgery of [flood, contest, nameSessions, nameRefused, flood]) {
    forgery(world, dice);
  }
  // Far more than any pause: a poller that waits for that time again is dead.
  if (dice.chance(0.4)) {
    world.setClockBack(6 * 60 * minuteMs);
  }
  const order = soundOrder(world);
  for (const step of ["pay", "authorise", "complete"] as const) {
    await clock.advance(dice.int(1000, 20_000));
    sandbox.advance(order.orderId, step);
  }
  const begunMs = clock.now();
  let known: Awaited<ReturnType<typeof orderOf>> = null;
  do {
    await pollOnce(world, inspector);
    known = await orderOf(world, order.orderId);
  } while (
    known?.status !== "success" && clock.now() - begunMs < besiegedMs
  );
  check(
    "every other order is confirmed within three hours",
    known?.status === "success" && known.trust === "confirmed",
    () =>
      `order ${order.orderId} is ${known?.trust} ${known?.status}, ` +
      `${(clock.now() - begunMs) / minuteMs} minutes after its success`,
  );
  sandbox.setFaults({ wrongDate: 0, endlessCursor: 0, drop: 0 });
}

/** An order is cancelled a moment after its success, and nobody tells. */
async function clawBack(
  world: World,
  inspector: Inspector,
  dice: Dice,
): Promise<void> {
  const { sandbox, clock } = world;
  const order = soundOrder(world);
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.advance(order.orderId, step);
    await clock.advance(2000);
  }
  const finalMs = clock.now();
  // The search for new orders begins at the latest one: no longer at this.
  await clock.advance(4 * minuteMs);
  soundOrder(world);
  await pollOnce(world, inspector);
  await clock.advance(dice.int(10_000, 60_000));
  sandbox.setFaults({ drop: 1 });
  sandbox.advance(order.orderId, "cancel");
  sandbox.setFaults({ drop: 0 });
  // Read again at the next time of the schedule, give or take a round.
  const sinceMs = clock.now() - finalMs;
  const nextMs = FINAL_READS_AFTER_MS.find((ms) => ms > sinceMs) ?? sinceMs;
  await clock.advance(nextMs - sinceMs + 15 * minuteMs);
  await pollOnce(world, inspector, ["confirm", "new", "open"]);
  const known = await orderOf(world, order.orderId);
  check(
    "a claw-back is known when lately final orders are read again",
    known?.status === "cancelled" && known.trust === "confirmed",
    () => `order ${order.orderId} is ${known?.trust} ${known?.status}`,
  );
}

/** Our clock is set back by hours, and an order is paid without a webhook. */
async function setClockFarBack(
  world: World,
  inspector: Inspector,
): Promise<void> {
  const { sandbox, clock } = world;
  // Far more than any pause: a poller that waits for that time again is dead.
  world.setClockBack(6 * 60 * minuteMs);
  const order = soundOrder(world);
  sandbox.setFaults({ drop: 1 });
  sandbox.advance(order.orderId, "pay");
  sandbox.setFaults({ drop: 0 });
  await clock.advance(20 * minuteMs);
  await pollOnce(world, inspector);
  const known = await orderOf(world, order.orderId);
  check(
    "a poller goes on when our clock is set back",
    known?.trust === "confirmed" && known.status === "progress",
    () => `order ${order.orderId} is ${known?.trust} ${known?.status}`,
  );
}

/** A person compares a past of more than a page that nobody has read yet. */
async function compareUnread(world: World): Promise<void> {
  const { sandbox, front, ports, plan } = world;
  const { incarnation } = front;
  if (incarnation === null) return;
  const untilMs = plan.startMs - 60 * dayMs;
  const fromMs = untilMs - dayMs;
  sandbox.backfill({ orders: 25, fromMs, untilMs });
  const { ledger, client } = incarnation;
  const report = await passing(
    world.clock,
    reconcile({
      ledger,
      client: ports.reconcileClient?.(client) ?? client,
      fromMs: fromMs - dayMs,
      toMs: untilMs + dayMs,
      now: () => world.now(),
      assets: "sandbox",
      all: true,
    }),
    60 * minuteMs,
  );
  const compared = new Set(report.rows.map(({ orderId }) => orderId));
  const missing = sandbox.orders().filter(({ orderId, createdAtMs }) =>
    createdAtMs >= fromMs && createdAtMs < untilMs &&
    !compared.has(orderId) && !isOdd(world, orderId)
  );
  check(
    "a proven comparison has seen all of its window",
    !report.complete || missing.length === 0,
    () => `${missing.length} orders are missing`,
  );
}

/** Two orders that were read are paid, and the service refuses one's id. */
async function askBesideRefused(
  world: World,
  inspector: Inspector,
): Promise<void> {
  const { sandbox, clock, plan } = world;
  sandbox.setFaults({ refusedId: 0.5 });
  const order = soundOrder(world);
  let beside = sandbox.createOrder();
  while (!sandbox.refuses(beside.orderId)) beside = sandbox.createOrder();
  await pollOnce(world, inspector);
  for (const { orderId } of [order, beside]) {
    sandbox.advance(orderId, "pay");
  }
  await clock.advance(5000);
  await pollOnce(world, inspector, ["confirm"]);
  const known = await orderOf(world, order.orderId);
  check(
    "an order is confirmed that is asked for beside a refused id",
    known?.trust === "confirmed" && known.status === "progress",
    () => `order ${order.orderId} is ${known?.trust} ${known?.status}`,
  );
  sandbox.setFaults({ refusedId: plan.attack.lasting.refusedId ?? 0 });
}
