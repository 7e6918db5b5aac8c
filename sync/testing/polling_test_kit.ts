import assert from "node:assert/strict";
import { OnrampClient } from "../../client/mod.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { type Driver, type Lease, takeLease } from "../../ledger/for_sync.ts";
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  type VirtualClock,
  virtualClock,
} from "../../sandbox/mod.ts";
import {
  createPoller,
  type PollCompleted,
  type Poller,
  type PollerOptions,
} from "../polling/poller.ts";
import { POLLER_DEFAULTS, type SweepContext } from "../polling/sweeps.ts";
import { Recorder, type SweepRead } from "../recording/recorder.ts";
import type { Steps } from "../walk/walk.ts";
import {
  rows,
  startMs,
  storeOnly,
} from "../../ledger/testing/store_test_kit.ts";
import { initialOrderFold } from "../../ledger/orders/order_fold.ts";
import { initialUserFold } from "../../ledger/users/user_state.ts";
import {
  dueChanges,
  packOrder,
  packUser,
} from "../../ledger/projection/rows.ts";
import { webhookEvent } from "../../ledger/testing/mint.ts";
import { append, projectAll } from "../../ledger/testing/fold_kit.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

export { rows, startMs, storeOnly };

/** Sixteen bytes that differ each time and do not depend on chance. */
export function countingBytes(): (length: number) => Uint8Array {
  let next = 0;
  return (length) => {
    next += 1;
    return new Uint8Array(length).fill(next % 256);
  };
}

/** A service in a box on a clock of its own, and a client that asks it. */
export interface Service extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  readonly client: OnrampClient;
  readonly asked: URL[];
  /** Answers in the service's place, where it gives an answer. */
  refuse: (url: URL) => Response | null;
}

/**
 * Sets a service up; `onAsk` runs before each answer, and `alter` changes the
 * text of a page on its way.
 */
export function service(
  options: SandboxOptions = {},
  onAsk: (url: URL, sandbox: Sandbox) => void = () => {},
  alter: (text: string, url: URL) => string = (text) => text,
): Service {
  const clock = virtualClock(startMs);
  const sandbox = createSandbox({ seed: 7, clock, ...options });
  const asked: URL[] = [];
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      asked.push(url);
      onAsk(url, sandbox);
      const refusal = box.refuse(url);
      if (refusal !== null) return refusal;
      const response = await sandbox.fetch(request);
      return new Response(alter(await response.text(), url), {
        status: response.status,
        headers: response.headers,
      });
    },
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    random: () => 0.5,
    requestsPerSecond: 1_000_000,
    // No timer of a request is left behind when a sweep is over.
    timeoutMs: 3_600_000,
    deadlineMs: 24 * 3_600_000,
  });
  const box: Service = {
    clock,
    sandbox,
    client,
    asked,
    refuse: () => null,
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
  return box;
}

/** A ledger in memory on the clock of a service. */
export function ledgerFor({ clock }: Service): Promise<Ledger> {
  return emptyLedger({
    now: () => clock.now(),
  });
}

/** A poller of a service that hardly ever waits for its rate. */
export function pollerFor(
  { clock, client }: Service,
  ledger: Ledger,
  changes: Partial<PollerOptions> = {},
): Poller {
  return createPoller({
    ledger,
    client,
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    randomBytes: countingBytes(),
    holder: "test",
    requestsPerSecond: 1000,
    ...changes,
  });
}

/** Polls once to the end, and gives its report. */
export async function pollOnce(
  box: Service,
  ledger: Ledger,
  changes: Partial<PollerOptions> = {},
): Promise<PollCompleted> {
  const poller = pollerFor(box, ledger, changes);
  const report = await moving(poller.once(), box.clock);
  assert.ok(report.ran);
  return report;
}

let deliveries = 0;

/** Stores a webhook about an order, as the endpoint would. */
export async function deliver(
  { clock }: Service,
  ledger: Ledger,
  type: string,
  orderId: string,
): Promise<void> {
  deliveries += 1;
  await ledger.appendDelivery({
    id: `01KA${String(deliveries).padStart(22, "0")}`,
    receivedAt: new Date(clock.now()).toISOString(),
    body: new TextEncoder().encode(
      JSON.stringify({ type, click_id: "", order: { id: orderId } }),
    ),
  });
}

/** What a sweep needs, and what it read. */
export interface Bench {
  readonly context: SweepContext;
  readonly read: { orders: number; users: number; appended: number };
  readonly lease: Lease;
}

/** A context for sweeps over a service and a database. */
export async function bench(
  { client, clock }: Service,
  driver: Driver,
  changes: Partial<SweepContext> = {},
): Promise<Bench> {
  const lease = await takeLease(driver, {
    name: "poll",
    holder: "test",
    leaseMs: 60_000,
  });
  if (!("fence" in lease)) throw new Error(`Held by ${lease.heldBy}`);
  const now = () => clock.now();
  const read = { orders: 0, users: 0, appended: 0 };
  const randomBytes = countingBytes();
  const recorder = new Recorder({ driver, lease, now, randomBytes });
  const context: SweepContext = {
    ...POLLER_DEFAULTS,
    client,
    driver,
    recorder,
    now,
    randomBytes,
    onRead: (one: SweepRead) => {
      read.orders += one.orders;
      read.users += one.users;
      read.appended += one.appended;
    },
    ...changes,
  };
  return { context, read, lease };
}

/** Runs a sweep to its end, or for some steps, and counts its requests. */
export async function drain(
  sweep: Steps<unknown>,
  clock: VirtualClock,
  steps: number = Infinity,
): Promise<number> {
  let requests = 0;
  for (let step = 0; step < steps; step++) {
    const { done, value } = await moving(sweep.next(), clock);
    if (done === true) return requests;
    requests += value as number;
  }
  await sweep.return(undefined);
  return requests;
}

/** Lets the clock move on, from timer to timer, while a promise waits. */
export async function moving<T>(
  promise: Promise<T>,
  clock: VirtualClock,
): Promise<T> {
  let settled = false;
  const end = () => {
    settled = true;
  };
  const done = promise.then(end, end);
  while (!settled) {
    // What is ready now goes first; then time passes to the next timer.
    await clock.settle();
    const dueMs = clock.nextDueMs;
    if (settled) break;
    if (dueMs !== null) await clock.runUntil(dueMs);
    else await Promise.race([done, new Promise((r) => setTimeout(r, 1))]);
  }
  return await promise;
}

/** A webhook names an order or a user, and is folded. */
export async function named(
  driver: Driver,
  entity: string,
  id: string,
  atMs: number,
): Promise<void> {
  const about = entity === "order"
    ? { type: "order_created", order: { id } }
    : { type: "login", user: { user_id: id } };
  const event = webhookEvent({
    id: `${id}-${atMs}`,
    receivedAt: new Date(atMs).toISOString(),
    body: new TextEncoder().encode(JSON.stringify(about)),
  }, new Uint8Array(16));
  await append(driver, [event]);
  await projectAll(driver);
}

/** An order or user as it waits to be asked for. */
export interface Queued {
  readonly entity?: string;
  readonly id: string;
  /** Whether the service has shown it. */
  readonly known?: boolean;
  /** When a webhook named it, ms. */
  readonly namedAtMs?: number;
  /** When it is asked about again as an open order, ms. */
  readonly dueAtMs?: number;
  readonly urgency?: number;
  readonly claimedBy?: number;
}

/** Rows of orders and users that wait, as the fold leaves them. */
export async function queue(
  driver: Driver,
  rows: readonly Queued[],
): Promise<void> {
  const told = JSON.stringify({ times: {}, last: {} });
  for (
    const [entity, all] of Map.groupBy(rows, (row) => row.entity ?? "order")
  ) {
    const isOrder = entity === "order";
    const table = isOrder ? "orders" : "users";
    const values = all.map((row) => [
      row.id,
      row.known ? 1 : 0,
      row.urgency ?? 0,
      row.claimedBy ?? 0,
      row.namedAtMs ?? null,
      row.dueAtMs ?? null,
      isOrder
        ? packOrder(initialOrderFold(row.id))
        : packUser(initialUserFold(row.id)),
    ]);
    const [columns, more] = isOrder
      ? [
        "open, release, reason, outcome,",
        "1, 'wait', 'not_shown', 'claimed',",
      ]
      : ["", ""];
    await driver.batch([{
      sql:
        `INSERT INTO ${table} (no, id, at, status, trust, ${columns} historic,
          shown, urgency, claimed_by, wanted_at, named_at, due_at, told, fold)
        SELECT 2 * (w.key + 1) + ${isOrder ? 0 : 1} +
            (SELECT coalesce(max(no) / 2 * 2, 0) FROM ${table}),
          w.value ->> 0, 0, 'created', 'claimed', ${more} 0, w.value ->> 1,
          w.value ->> 2, w.value ->> 3, w.value ->> 4, w.value ->> 4,
          w.value ->> 5, ?2, w.value ->> 6
        FROM json_each(?1) AS w WHERE true
        ON CONFLICT (id) DO UPDATE SET ${dueChanges(table)}`,
      args: [JSON.stringify(values), told],
    }], "write");
  }
}
