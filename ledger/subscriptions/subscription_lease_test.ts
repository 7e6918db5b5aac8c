import assert from "node:assert/strict";
import { newLedger } from "../testing/fold_kit.ts";
import { opened, record } from "../testing/subscription_kit.ts";
import { openLedger } from "../open_ledger.ts";
import type { Driver } from "../store/database.ts";
import { orderRead, session } from "../testing/projection_test_kit.ts";
import { until } from "../../tests/kit/until.ts";
import { temporaryLedger } from "../../tests/kit/cli.ts";

/** Stores orders, one after the other, with a transition each. */
async function orders(driver: Driver, from: number, count: number) {
  await record(
    driver,
    ...Array.from(
      { length: count },
      (_, n) =>
        orderRead(from + n, { orderId: `O${from + n}`, status: "created" }),
    ),
  );
}

/** Waits, but never long. */
function quick(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, Math.min(ms, 5));
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}

Deno.test("Ledger.subscribe() of two ledgers under one name calls one handler for each key, and the other waits", async () => {
  await using folder = await temporaryLedger();
  const open = () => openLedger({ url: folder.url, environment: "sandbox" });
  await using first = await open();
  await using second = await open();
  await orders(first.driver, 0, 50);
  const calls: string[] = [];
  const turns: Record<string, string[]> = { a: [], b: [] };
  const subscribe = (ledger: typeof first, name: string) =>
    ledger.subscribe("goods", {
      on: "order.*.*",
      from: "start",
      concurrency: 4,
      sleep: quick,
      onTurn: (turn) => void turns[name]?.push(turn),
    }, async ({ key }) => {
      calls.push(`${name} ${key}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    });
  const a = await subscribe(first, "a");
  await until(() => turns["a"]?.length === 1);
  await subscribe(second, "b");
  await until(() => turns["b"]?.length === 1 && calls.length >= 50);
  assert.deepEqual(turns, { a: ["delivers"], b: ["waits"] });
  assert.ok(calls.every((call) => call.startsWith("a ")));
  // The first stops: the second takes over, and repeats nothing.
  await a.stop();
  await until(() => turns["b"]?.length === 2);
  await orders(first.driver, 50, 10);
  await until(() => calls.length >= 60);
  assert.deepEqual(turns["b"], ["waits", "delivers"]);
  assert.equal(calls.filter((call) => call.startsWith("b ")).length, 10);
  assert.equal(new Set(calls.map((call) => call.slice(2))).size, 60);
});

Deno.test("Subscription.dispatch() delivers nothing while another process delivers, and what is left once its lease has expired", async () => {
  const driver = await newLedger();
  await orders(driver, 0, 3);
  const seen: string[] = [];
  let steadyMs = 0;
  let wake = () => {};
  const sleeping = new Promise<void>((resolve) => wake = resolve);
  const subscribe = (holder: string) =>
    opened(driver, async ({ id }) => {
      seen.push(`${holder} ${id}`);
      if (holder === "a") await sleeping;
    }, {
      concurrency: 1,
      leaseMs: 60_000,
      steadyNow: () => steadyMs,
    }, { holder });
  const [stuck, other] = [await subscribe("a"), await subscribe("b")];
  const dispatched = stuck.dispatch();
  await until(() => seen.length === 1);
  assert.deepEqual(await other.dispatch(), {
    delivered: 0,
    failed: 0,
    isWaiting: true,
  });
  steadyMs = 60_000;
  await driver.batch([{
    sql: "UPDATE leases SET expires_at = 0",
    args: [],
  }], "write");
  assert.deepEqual(await other.dispatch(), { delivered: 3, failed: 0 });
  // The one that was stuck writes nothing, and delivers nothing more.
  wake();
  await assert.rejects(dispatched);
  assert.deepEqual(seen, ["a O0", "b O0", "b O1", "b O2"]);
  await driver.close();
});

Deno.test("Subscription.dispatch() of a process that was paused for longer than its lease calls no handler", async () => {
  const driver = await newLedger();
  await orders(driver, 0, 3);
  let steadyMs = 0;
  const seen: string[] = [];
  const subscription = await opened(driver, ({ id }) => {
    seen.push(id);
    steadyMs += 10_001;
  }, { concurrency: 1, steadyNow: () => steadyMs });
  await assert.rejects(subscription.dispatch(), /Another process was first/);
  assert.deepEqual(seen, ["O0"]);
  // Nobody has taken over: what was delivered is written, and not repeated.
  await assert.rejects(subscription.dispatch());
  assert.deepEqual(seen, ["O0", "O1"]);
  await driver.close();
});

Deno.test("Subscription.stop() gives the lease back, and a dispatch by hand does so when it ends", async () => {
  const driver = await newLedger();
  await orders(driver, 0, 1);
  const subscribe = (holder: string, start: boolean) =>
    opened(driver, () => {}, { start, sleep: quick }, { holder });
  const byHand = await subscribe("a", false);
  assert.equal((await byHand.dispatch()).delivered, 1);
  const running = await subscribe("b", true);
  await until(() => running.isHolder);
  assert.equal((await byHand.dispatch()).isWaiting, true);
  await running.stop();
  assert.equal((await byHand.dispatch()).isWaiting, undefined);
  await driver.close();
});

Deno.test("Ledger.subscribe() hands a release over within a second after the process that had begun it was killed", async () => {
  await using folder = await temporaryLedger();
  const { url } = folder;
  const open = () => openLedger({ url, environment: "sandbox" });
  await using first = await open();
  const paid = orderRead(5, {
    ...{ orderId: "O1", status: "success", click: "C1", tx: "0xT" },
    ...{ created: 2, changed: 3 },
  });
  await first.append([session(0, "S1", "C1"), paid]);
  const child = new Deno.Command("deno", {
    args: [
      ...["run", "--no-check", "--allow-env", "--allow-sys", "--allow-read"],
      ...["--allow-write", "--allow-net"],
      new URL("../testing/subscriber.ts", import.meta.url).href,
      url,
    ],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const said = child.stdout.getReader();
  const { value } = await said.read();
  assert.match(new TextDecoder().decode(value), /order:O1:release\.yes/);
  child.kill("SIGKILL");
  await child.status;
  await said.cancel();
  const told = Promise.withResolvers<string>();
  const beganMs = performance.now();
  await first.subscribe(
    "goods",
    { on: "order.release.yes" },
    ({ key }) => told.resolve(key),
  );
  assert.equal(await told.promise, "order:O1:release.yes");
  const tookMs = performance.now() - beganMs;
  assert.ok(tookMs < 2000, `${tookMs} ms, and the lease lasts 10 s`);
});
