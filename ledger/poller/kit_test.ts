import { OnrampClient } from "../../client/client.ts";
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  VirtualClock,
} from "../../sandbox/mod.ts";
import type { Driver, SqlValue } from "../store/driver.ts";
import { migrate } from "../store/migrate.ts";
import { openDriver } from "../store/open_driver.ts";
import { projectionSchema } from "../projection/schema.ts";
import { storeSchema } from "../store/schema.ts";
import { type Lease, takeLease } from "./lease.ts";
import { Recorder } from "./recorder.ts";
import { pollerSchema } from "./schema.ts";
import type { Sweep, SweepContext, SweepRead } from "./sweep.ts";

/** When every test begins. */
export const startMs = Date.parse("2026-11-20T12:00:00.000Z");

/** Sixteen bytes that differ each time and do not depend on chance. */
export function countingBytes(): (length: number) => Uint8Array {
  let next = 0;
  return (length) => {
    next += 1;
    return new Uint8Array(length).fill(next % 256);
  };
}

/** A database with every table, and nobody who projects. */
export async function storeOnly(): Promise<Driver> {
  const driver = await openDriver({ url: ":memory:" });
  await migrate(driver, {
    migrations: [{
      version: 1,
      statements: [...storeSchema, ...projectionSchema, ...pollerSchema],
    }],
    environment: "sandbox",
    now: () => startMs,
  });
  return driver;
}

/** A service in a box on a clock of its own, and a client that asks it. */
export interface Service extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  readonly client: OnrampClient;
  /** Addresses asked for, in order. */
  readonly asked: URL[];
}

/** Sets a service up; `onAsk` runs before each answer. */
export function service(
  options: SandboxOptions = {},
  onAsk: (url: URL, sandbox: Sandbox) => void = () => {},
): Service {
  const clock = new VirtualClock(startMs);
  const sandbox = createSandbox({ seed: 7, clock, ...options });
  const asked: URL[] = [];
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    fetch: (input, init) => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      asked.push(url);
      onAsk(url, sandbox);
      return sandbox.fetch(request);
    },
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    random: () => 0.5,
    requestsPerSecond: 1_000_000,
    // No timer of a request is left behind when a sweep is over.
    timeoutMs: 3_600_000,
    deadlineMs: 24 * 3_600_000,
  });
  return {
    clock,
    sandbox,
    client,
    asked,
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
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
  const recorder = new Recorder({
    driver,
    lease,
    now,
    randomBytes: countingBytes(),
  });
  const context: SweepContext = {
    client,
    driver,
    recorder,
    now,
    itemsPerWindow: 200,
    overlapMs: 120_000,
    settleMs: 60_000,
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
  sweep: Sweep<unknown>,
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

/** Rows of one query. */
export async function rows(
  driver: Driver,
  sql: string,
  ...args: readonly SqlValue[]
): Promise<readonly (readonly SqlValue[])[]> {
  const [found] = await driver.batch([{ sql, args }], "read");
  return found?.rows ?? [];
}
