import { GRACE_MS } from "../../../sync/watchdog/watchdog_rule.ts";
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
const deadOrders = 30;
const betweenMs = 2 * minuteMs;
/** Orders between two polls: a poller that pauses for longer waits for retries. */
const ordersPerPoll = 4;
/**
 * How long a forger goes on after a poll begins: every four minutes, so that
 * of its own orders four in a row are announced. Five would clear the alarm.
 */
const forgedMinutes = 16;
/** So many silent orders are an alarm, whatever else is announced between. */
const silentOrders = 3;

/** What somebody does meanwhile; also nothing, because the bound is the same. */
const FORGERIES = [null, pretendLife, repeatFinal, buyCheaply];

/**
 * Delivery is dead and thirty orders succeed, while a forger logs in, repeats
 * the webhook of an order that is long final, or announces cheap orders of its
 * own: the alarm comes as soon as it does without any of that, and stays.
 */
export async function killDelivery(
  world: World,
  inspector: Inspector,
  dice: Dice,
): Promise<void> {
  const { sandbox, clock, journal, plan } = world;
  const final = soundOrder(world);
  sell(sandbox, final);
  await pollOnce(world, inspector);
  const { webhookUrl } = sandbox.delivery;
  sandbox.setWebhookUrl(null);
  journal.count("delivery dead");
  const forge = dice.pick(FORGERIES);
  // A change is due by the service's own clock, of which ours may be behind.
  const aheadMs = Math.max(0, plan.service.clockSkewMs ?? 0);
  const readsSeldom = plan.running && plan.pace === "hours";
  let dueMs = Infinity;
  const pollAndHold = async () => {
    const isDue = clock.now() >= dueMs;
    await pollOnce(world, inspector);
    // One that runs by itself may read new orders only after its last look.
    if (readsSeldom) await pollOnce(world, inspector);
    if (isDue) holdsSuspected(world, clock.now() - dueMs);
  };
  for (let sold = 1; sold <= deadOrders; sold++) {
    if (sold % ordersPerPoll === 3) {
      forge?.(world, dice, final, forgedMinutes);
      await pollAndHold();
    }
    sell(sandbox, soundOrder(world));
    if (sold === silentOrders) dueMs = clock.now() + GRACE_MS + aheadMs;
    await clock.advance(betweenMs);
  }
  // Whatever the clocks, the last changes are overdue by the second of them.
  await pollAndHold();
  await pollAndHold();
  check("thirty orders outlast the bound", clock.now() >= dueMs, () => "");
  sandbox.setWebhookUrl(webhookUrl);
  await announce(world, inspector, 5);
  check(
    "the watchdog tells that delivery is alive again",
    world.delivery?.deliverySuspected === false,
    () => `it says: ${world.delivery?.state ?? "nothing"}`,
  );
}

/** Where no webhook ever came, it says so, and that orders move. */
function holdsSuspected({ delivery }: World, lateMs: number): void {
  check(
    "the watchdog tells in time that delivery is dead, whatever a forger sends",
    delivery?.deliverySuspected === true ||
      (delivery?.state === "never_received" && delivery.silentOrders > 0),
    () =>
      `it says: ${delivery?.state ?? "nothing"}, ` +
      `${lateMs / minuteMs} minutes after it should`,
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
