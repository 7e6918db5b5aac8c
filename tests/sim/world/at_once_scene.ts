import {
  createPoller,
  type PollClient,
  type Poller,
} from "../../../sync/mod.ts";
import { pollOnce } from "../rules/convergence.ts";
import { orderOf } from "../rules/disagreements.ts";
import { inProcess } from "../rules/in_process.ts";
import type { Inspector } from "../rules/inspector.ts";
import type { Dice } from "./dice.ts";
import type { Incarnation } from "./incarnation.ts";
import { addOne, check } from "./journal.ts";
import { soundOrder } from "./sound_order.ts";
import type { World } from "./world.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Folding, a request that is under way, and one for ids that nobody knows. */
const atOnceMs = 4000;

/** Invented ids that wait: thirty requests, at two a second. */
const inventedIds = 300;

/**
 * In peace, and while the service refuses no id, a webhook is confirmed at once
 * where the process that folds it also
 * polls: again when the next status is claimed a moment later, and before any
 * number of invented ids. What is claimed again and again costs no request.
 */
export async function confirmAtOnce(
  world: World,
  inspector: Inspector,
  dice: Dice,
): Promise<void> {
  const { clock, sandbox, front, plan } = world;
  // There somebody else polls, and looks every few minutes only.
  if (plan.running) return;
  const { orderId } = soundOrder(world);
  let isRefusing = false;
  await pollOnce(world, inspector, ["new"]);
  const refusedBefore = sandbox.counters.refusedIds;
  addOne(world.journal.chores, "confirmed at once");
  await inProcess(world, front, async (incarnation) => {
    const asked: string[] = [];
    const stop = new AbortController();
    const running = pollerOf(world, incarnation, dice, asked)
      .run(stop.signal);
    try {
      await clock.sleep(3 * minuteMs);
      await invent(world);
      sandbox.advance(orderId, "pay");
      await isSoon("progress");
      sandbox.advance(orderId, "authorise");
      sandbox.advance(orderId, "complete");
      await isSoon("success");
      const before = asked.length;
      for (let second = 0; second < 6; second++) {
        const claim = {
          type: "order_failed",
          click_id: "",
          order: { id: orderId },
        };
        world.background(
          world.post(new TextEncoder().encode(JSON.stringify(claim))),
        );
        await clock.sleep(1000);
      }
      noticeRefusals();
      const again = asked.slice(before).filter((id) => id === orderId).length;
      check(
        "what is claimed again and again costs no request",
        isRefusing || again <= 2,
        () => `order ${orderId} was asked for ${again} times in six seconds`,
      );
    } finally {
      stop.abort();
      await running;
    }
  }, 6 * hourMs);

  /**
   * A refused id has its batch split, so all of it is asked for again; that
   * takes the rate, and then a pause.
   */
  function noticeRefusals(): void {
    if (sandbox.counters.refusedIds > refusedBefore) isRefusing = true;
  }

  async function isSoon(status: string): Promise<void> {
    await clock.sleep(atOnceMs);
    noticeRefusals();
    if (isRefusing) return;
    const known = await orderOf(world, orderId);
    check(
      "a webhook is confirmed at once while the rate is free",
      known?.status === status && known.trust === "confirmed",
      () =>
        `order ${orderId} is ${known?.trust} ${known?.status}, ` +
        `${atOnceMs} ms after it was ${status}`,
    );
  }
}

/** A poller that looks by itself once an hour only. */
function pollerOf(
  world: World,
  { ledger, client: real }: Incarnation,
  dice: Dice,
  asked: string[],
): Poller {
  const { clock, ports } = world;
  const client = ports.pollClient?.(real) ?? real;
  const watched: PollClient = {
    orders: {
      page: (query, options) => client.orders.page(query, options),
      list: (query, options) => {
        asked.push(...query?.search_by ?? []);
        return client.orders.list(query, options);
      },
    },
    users: client.users,
  };
  return createPoller({
    ledger: ports.pollLedger?.(ledger) ?? ledger,
    client: watched,
    now: () => world.now(),
    steadyNow: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    randomBytes: (length) => dice.bytes(length),
    holder: "at once",
    leaseMs: 6 * hourMs,
    requestsPerSecond: 2,
    shares: { confirm: 20, new: 1, open: 1, deep: 1 },
    followEveryMs: hourMs,
    confirmEveryMs: hourMs,
    openEveryMs: hourMs,
    deepCycleAtLeastMs: 24 * hourMs,
    watchEveryMs: hourMs,
    onError: (error) => world.expect(error, null),
  });
}

/** Sends a flood of webhooks that name ids of which nobody has heard. */
async function invent(world: World): Promise<void> {
  const encoder = new TextEncoder();
  await Promise.all(
    Array.from({ length: inventedIds }, (_, n) => {
      const id = `01FLOOD${String(n).padStart(19, "0")}`;
      const said = { type: "order_updated", order: { id } };
      return world.post(encoder.encode(JSON.stringify(said)));
    }),
  );
}
