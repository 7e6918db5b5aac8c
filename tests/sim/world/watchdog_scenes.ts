import type { Sandbox, SandboxOrder } from "../../../sandbox/mod.ts";
import { buyCheaply, pretendLife, repeatFinal } from "../chores/forger.ts";
import { pollOnce } from "../rules/convergence.ts";
import type { Inspector } from "../rules/inspector.ts";
import type { Dice } from "./dice.ts";
import { check } from "./journal.ts";
import { soundOrder } from "./sound_order.ts";
import type { World } from "./world.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Orders that succeed while delivery is dead, and the time between two. */
const deadOrders = 12;
const betweenMs = 2 * minuteMs;
/** Orders between two polls: a poller that pauses for longer waits for retries. */
const ordersPerPoll = 4;
/** How long a forger goes on: no longer than orders do. */
const forgedMinutes = 20;

/**
 * Delivery is dead and orders succeed, while a forger logs in, repeats the
 * webhook of an order that is long final, or announces cheap orders of its own.
 */
export async function killDelivery(
  world: World,
  inspector: Inspector,
  dice: Dice,
): Promise<void> {
  const { sandbox, clock, journal } = world;
  const final = soundOrder(world);
  sell(sandbox, final);
  await pollOnce(world, inspector);
  const { webhookUrl } = sandbox.delivery;
  sandbox.setWebhookUrl(null);
  journal.count("delivery dead");
  const forge = dice.pick([pretendLife, repeatFinal, buyCheaply]);
  forge(world, dice, final, forgedMinutes);
  for (let sold = 0; sold < deadOrders; sold++) {
    if (sold % ordersPerPoll === 2) await pollOnce(world, inspector);
    sell(sandbox, soundOrder(world));
    await clock.advance(betweenMs);
  }
  await pollOnce(world, inspector);
  await pollOnce(world, inspector);
  check(
    "the watchdog tells that delivery is dead, whatever a forger sends",
    // Where no webhook ever came, it says so, and that orders move.
    world.delivery?.deliverySuspected === true ||
      (world.delivery?.state === "never_received" &&
        world.delivery.silentOrders > 0),
    () => `it says: ${world.delivery?.state ?? "nothing"}`,
  );
  sandbox.setWebhookUrl(webhookUrl);
  await announce(world, inspector, 5);
  check(
    "the watchdog tells that delivery is alive again",
    world.delivery?.deliverySuspected === false,
    () => `it says: ${world.delivery?.state ?? "nothing"}`,
  );
}

function sell(sandbox: Sandbox, { orderId }: SandboxOrder): void {
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.advance(orderId, step);
  }
}

/** A shop of one order a day, whose webhooks come late, but come. */
export async function sellSlowly(
  world: World,
  inspector: Inspector,
): Promise<void> {
  const { sandbox, clock, plan } = world;
  // What happened before may be reason enough to suspect delivery, and counts
  // among the last thirty changes.
  await announce(world, inspector, 30);
  for (let day = 0; day < 4; day++) {
    // Where the first failure ends delivery, no retry comes.
    const down = day === 1 && plan.disableRule !== "first_failure";
    sandbox.setFaults(down ? { endpointDown: true } : { delay: 1 });
    const { orderId } = soundOrder(world);
    sandbox.advance(orderId, "pay");
    await pollOnce(world, inspector);
    holdsStill(world, day);
    if (down) sandbox.setFaults({ endpointDown: false });
    // The retry comes an hour after the outage.
    await clock.advance(2 * hourMs);
    sandbox.advance(orderId, "authorise");
    sandbox.advance(orderId, "complete");
    for (let left = 2; left > 0; left--) {
      await pollOnce(world, inspector);
      holdsStill(world, day);
    }
    await clock.advance(20 * hourMs);
    await pollOnce(world, inspector);
    holdsStill(world, day);
  }
  sandbox.setFaults({ delay: 0 });
}

function holdsStill({ delivery }: World, day: number): void {
  check(
    "the watchdog raises nothing false in a shop of one order a day",
    delivery?.deliverySuspected === false,
    () =>
      `on day ${day} it says: ${delivery?.state ?? "nothing"}, of ` +
      `${delivery?.silentOrderIds.join() ?? ""}`,
  );
}

/** Orders are paid, their webhooks come, and have had their time. */
async function announce(
  world: World,
  inspector: Inspector,
  orders: number,
): Promise<void> {
  const { sandbox, clock } = world;
  for (let left = orders; left > 0; left--) {
    sandbox.advance(soundOrder(world).orderId, "pay");
  }
  await pollOnce(world, inspector);
  await clock.advance(10 * minuteMs);
  await pollOnce(world, inspector);
}
