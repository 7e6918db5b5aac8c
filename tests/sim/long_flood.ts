import { OnrampClient } from "../../client/mod.ts";
import { createPoller } from "../../sync/mod.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { Driver } from "../../ledger/for_sync.ts";
import { ledgerOn } from "../../ledger/for_server.ts";
import { FileDriver } from "../../ledger/testing/mod.ts";
import {
  createSandbox,
  type Sandbox,
  type VirtualClock,
} from "../../sandbox/mod.ts";
import { Dice } from "./world/dice.ts";
import { onVirtualTime, passing, wholeClock } from "./world/virtual_time.ts";

/** How a flood is sent. */
export interface FloodOptions {
  /** Invented orders, and as many invented users again for every ten. */
  readonly ids: number;
  /** Decides what is drawn. @default {1} */
  readonly seed?: number;
  /** Orders that the ledger knows before. @default {300} */
  readonly past?: number;
  /** Every batch to the database, to break a rule on purpose. */
  readonly driver?: (next: Driver) => Driver;
}

/** What became of the true orders in a flood, in virtual milliseconds. */
export interface FloodReport {
  /** Webhooks of invented orders and users. */
  readonly forged: number;
  /** From the webhook of an order that was known to its confirmation. */
  readonly knownAfterMs: number | null;
  /** From the webhook of an order that nobody had read yet to it. */
  readonly newAfterMs: number | null;
  /** From the webhook of a user that was known to the confirmation. */
  readonly userAfterMs: number | null;
  /** Requests that the service took meanwhile. */
  readonly requests: number;
}

/**
 * Longest that each may take, in virtual milliseconds: what is known waits for
 * a share of the rate that nobody else gets, what is new for the next look.
 */
const MOST_MS = {
  knownAfterMs: 30_000,
  newAfterMs: 60_000,
  userAfterMs: 30_000,
};

/** What of a flood came too late, in words; nothing when all was in time. */
export function tooLate(report: FloodReport): string[] {
  return (["knownAfterMs", "newAfterMs", "userAfterMs"] as const).flatMap(
    (name) => {
      const afterMs = report[name];
      if (afterMs !== null && afterMs <= MOST_MS[name]) return [];
      return [`${name} is ${afterMs}, at most ${MOST_MS[name]} is right`];
    },
  );
}

const encoder = new TextEncoder();
const startMs = Date.UTC(2026, 4, 1);

/** Longest that the true orders are waited for. */
const limitMs = 3 * 3_600_000;

/**
 * Sends the webhooks of very many invented orders and users, then those of true
 * ones, and polls by the poller's own defaults until these are confirmed.
 */
export async function floodLedger(options: FloodOptions): Promise<FloodReport> {
  const { ids, seed = 1, past = 300, driver = (next) => next } = options;
  const clock = wholeClock(startMs, { turns: 2 });
  return await onVirtualTime(clock, async () => {
    const dice = new Dice(`flood ${seed}`);
    const sandbox = createSandbox({ seed, clock });
    const ledger = await ledgerOn(
      driver(new FileDriver({ path: ":memory:", busyTimeoutMs: 50 })),
      {
        environment: "sandbox",
        now: () => clock.now(),
        randomBytes: (length) => dice.bytes(length),
      },
    );
    const stop = new AbortController();
    try {
      return await play({ clock, dice, sandbox, ledger, stop, ids, past });
    } finally {
      stop.abort();
      await clock.advance(60_000);
      await sandbox.close();
      await ledger.close();
    }
  });
}

async function play({ clock, dice, sandbox, ledger, stop, ids, past }: {
  readonly clock: VirtualClock;
  readonly dice: Dice;
  readonly sandbox: Sandbox;
  readonly ledger: Ledger;
  readonly stop: AbortController;
  readonly ids: number;
  readonly past: number;
}): Promise<FloodReport> {
  const poller = createPoller({
    ledger,
    client: new OnrampClient({
      environment: "sandbox",
      apiKey: sandbox.apiKey,
      fetch: (input, init) => sandbox.fetch(new Request(input, init)),
      now: () => clock.now(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      random: () => dice.unit(),
    }),
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    randomBytes: (length) => dice.bytes(length),
  });
  sandbox.backfill({
    orders: past,
    fromMs: startMs - 20 * 86_400_000,
    untilMs: startMs - 86_400_000,
  });
  const [known] = sandbox.orders().filter(({ status }) => status === "success");
  if (known === undefined) throw new Error("No order of the past succeeded");
  await passing(clock, poller.once(), limitMs);

  let number = 0;
  const tell = async (body: Readonly<Record<string, unknown>>) =>
    await ledger.appendDelivery({
      id: `01FLOOD${String(++number).padStart(19, "0")}`,
      receivedAt: new Date(clock.now()).toISOString(),
      body: encoder.encode(JSON.stringify(body)),
    });
  const invent = () => dice.int(1e12, 9e12).toString(36).toUpperCase();
  const forge = async (count: number) => {
    for (let done = 0; done < count; done += 500) {
      await passing(
        clock,
        Promise.all(
          Array.from({ length: Math.min(500, count - done) }, (_, at) =>
            tell(
              at % 11 === 10
                ? { type: "login", user: { user_id: `01A${invent()}` } }
                : { type: "order_complete", order: { id: `01A${invent()}` } },
            )),
        ),
        limitMs,
      );
    }
  };
  const running = poller.run(stop.signal);
  await clock.advance(180_000);
  await forge(Math.ceil(ids * 1.1));
  await passing(clock, ledger.project(), limitMs);
  const requestsBefore = sandbox.counters.apiRequests;
  // The past has just been gone through: nothing of it is due for an hour.
  // An old order is clawed back, a new one paid, and a user verified.
  const fresh = sandbox.createOrder();
  const user = sandbox.user(known.userId);
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.advance(fresh.orderId, step);
  }
  sandbox.advance(known.orderId, "cancel");
  await tell({ type: "order_complete", order: { id: fresh.orderId } });
  await tell({ type: "order_cancelled", order: { id: known.orderId } });
  sandbox.amendUser(known.userId, { fkyc: "success" });
  await tell({
    type: "verify_success",
    user: {
      user_id: user?.userId,
      verification_status: { fkyc: { state: "success" } },
    },
  });
  const toldMs = clock.now();
  const afterMs: Record<"known" | "new" | "user", number | null> = {
    known: null,
    new: null,
    user: null,
  };
  const confirmed = async (orderId: string, status: string) => {
    const order = await ledger.orders.get(orderId);
    return order?.trust === "confirmed" && order.status === status;
  };
  while (clock.now() - toldMs < limitMs) {
    await clock.advance(1000);
    // The forger goes on.
    await forge(20);
    await passing(clock, ledger.project(), limitMs);
    const waited = clock.now() - toldMs;
    if (await confirmed(known.orderId, "cancelled")) afterMs.known ??= waited;
    if (await confirmed(fresh.orderId, "success")) afterMs.new ??= waited;
    const read = await ledger.users.get(known.userId);
    if (read?.verification.fkyc === "success" && read.trust === "confirmed") {
      afterMs.user ??= waited;
    }
    if (Object.values(afterMs).every((after) => after !== null)) break;
  }
  stop.abort();
  await passing(clock, running.catch(() => {}), limitMs);
  return {
    forged: number - 3,
    knownAfterMs: afterMs.known,
    newAfterMs: afterMs.new,
    userAfterMs: afterMs.user,
    requests: sandbox.counters.apiRequests - requestsBefore,
  };
}
