import assert from "node:assert/strict";
import fc from "fast-check";
import { until } from "../../tests/kit/until.ts";
import type { NewEvent } from "../events/event.ts";
import { appendStatement } from "../store/append.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  at,
  Crash,
  crashingDriver,
  emptyStore,
  orderRead,
  orderWebhook,
  rowsOf,
} from "../testing/projection_test_kit.ts";
import { Projector } from "../projection/projector.ts";
import { Subscription } from "./subscription.ts";
import type {
  SubscribeOptions,
  TransitionHandler,
} from "./subscription_options.ts";
import { Subscriptions } from "./subscriptions.ts";

async function record(driver: Driver, ...events: NewEvent[]): Promise<void> {
  await driver.batch([appendStatement(events)], "write");
  const projector = new Projector({ driver, assets: "sandbox" });
  while ((await projector.step("live")).events > 0);
}

/** Two orders that go through the same statuses, one event each in turn. */
function lives(...orders: string[]): NewEvent[] {
  const steps = ["created", "progress", "pending", "success"];
  return steps.flatMap((status, step) =>
    orders.map((orderId) => orderRead(step, { orderId, status, changed: step }))
  );
}

async function opened(
  driver: Driver,
  handler: TransitionHandler,
  options: Partial<SubscribeOptions> = {},
  now: () => number = () => Date.parse(at(60)),
): Promise<Subscription> {
  const subscription = new Subscription({
    driver,
    now,
    name: "test",
    options: { on: "order.*.*", from: "start", start: false, ...options },
    handler,
  });
  await subscription.open();
  return subscription;
}

const statuses = ["created", "progress", "pending", "success"];

/** Everything came, and nothing before what precedes it. */
function toldInOrder(seen: readonly string[], message: string): void {
  assert.deepEqual([...new Set(seen)], statuses, message);
  for (const [at, status] of seen.entries()) {
    const before = seen[at - 1];
    const step = statuses.indexOf(status) -
      (before === undefined ? -1 : statuses.indexOf(before));
    assert.ok(step <= 1, `${message}: ${seen.join(" ")}`);
  }
}

Deno.test("Subscription.dispatch() delivers each matching transition once, in order, under its key", async () => {
  const driver = await emptyStore();
  await record(
    driver,
    ...lives("O1", "O2"),
    orderWebhook("W1", 9, {
      type: "order_complete",
      orderId: "O3",
      user: "U1",
    }),
  );
  const keys: string[] = [];
  await using subscription = await opened(driver, ({ key }) => {
    keys.push(key);
  }, { on: ["order.confirmed.success", "order.claimed.*"] });
  assert.deepEqual(await subscription.dispatch(), { delivered: 3, failed: 0 });
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 0 });
  assert.deepEqual(keys, [
    "order:O1:confirmed.success",
    "order:O2:confirmed.success",
    "order:O3:claimed.success",
  ]);
  await driver.close();
});

Deno.test("Subscription.open() begins a new name with what happens from now on, and a known one where it was", async () => {
  const driver = await emptyStore();
  const keys: string[] = [];
  const handler: TransitionHandler = ({ key }) => void keys.push(key);
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  const first = await opened(driver, handler, { from: "now" });
  await record(driver, orderRead(2, { orderId: "O2", status: "created" }));
  await first.dispatch();
  await record(driver, orderRead(3, { orderId: "O3", status: "created" }));
  const second = await opened(driver, handler, { from: "now" });
  await second.dispatch();
  assert.deepEqual(keys, [
    "order:O2:confirmed.created",
    "order:O3:confirmed.created",
  ]);
  await driver.close();
});

Deno.test("Subscription.dispatch() delivers everything at least once and in order wherever the process dies", async () => {
  const orders = ["O1", "O2"];
  for (const when of ["before", "after"] as const) {
    for (const fails of [false, true]) {
      let survived = false;
      for (let write = 1; !survived; write++) {
        assert.ok(write < 40, "it ends");
        const driver = await emptyStore();
        await record(driver, ...lives(...orders));
        const seen: Record<string, string[]> = { O1: [], O2: [] };
        const failed = new Set<string>();
        const handler: TransitionHandler = ({ id, status, key }) => {
          if (fails && !failed.has(key) && status === "progress") {
            failed.add(key);
            throw new Error("not now");
          }
          seen[id]?.push(status);
        };
        const dying = crashingDriver(driver, write, when);
        try {
          const subscription = await opened(dying, handler, {
            retryDelayMs: () => 0,
          });
          await subscription.dispatch();
          survived = true;
        } catch (error) {
          assert.ok(error instanceof Crash, String(error));
        }
        const again = await opened(driver, handler, { retryDelayMs: () => 0 });
        await again.dispatch();
        for (const order of orders) {
          toldInOrder(seen[order] ?? [], `${order} died at ${write}`);
          // A crash repeats what the group held that was not written.
          assert.ok((seen[order]?.length ?? 0) <= 2 * statuses.length);
        }
        assert.deepEqual(
          await rowsOf(driver, "SELECT * FROM queued_transitions"),
          [],
        );
        await driver.close();
      }
    }
  }
});

Deno.test("Subscription.dispatch() lets a failing entity wait, and no other", async () => {
  const driver = await emptyStore();
  let nowMs = Date.parse(at(60));
  let broken = true;
  const seen: string[] = [];
  const attempts: number[] = [];
  await record(driver, ...lives("O1", "O2"));
  await using subscription = await opened(
    driver,
    (transition, { attempt }) => {
      if (transition.id === "O1" && transition.status === "progress") {
        attempts.push(attempt);
        if (broken) throw new Error("out of order");
      }
      seen.push(`${transition.id} ${transition.status}`);
    },
    {},
    () => nowMs,
  );
  assert.deepEqual(await subscription.dispatch(), { delivered: 5, failed: 1 });
  assert.deepEqual(seen, [
    "O1 created",
    "O2 created",
    "O2 progress",
    "O2 pending",
    "O2 success",
  ]);
  const subscriptions = new Subscriptions(driver, () => nowMs);
  const [status] = await subscriptions.list();
  assert.deepEqual(
    [status?.behind, status?.retrying, status?.waiting, status?.dead],
    [0, 1, 2, 0],
  );
  assert.equal((await subscriptions.queued("test"))[0]?.error, "out of order");
  nowMs += 999;
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 0 });
  nowMs += 1;
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 1 });
  nowMs += 1999;
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 0 });
  broken = false;
  nowMs += 1;
  assert.deepEqual(await subscription.dispatch(), { delivered: 3, failed: 0 });
  assert.deepEqual(attempts, [1, 2, 3]);
  assert.deepEqual(seen.slice(5), ["O1 progress", "O1 pending", "O1 success"]);
  assert.deepEqual(await subscriptions.queued("test"), []);
  await driver.close();
});

Deno.test("Subscription.dispatch() gives up after so many attempts, and later ones say what they miss", async () => {
  for (const action of ["retry", "drop"] as const) {
    const driver = await emptyStore();
    let broken = true;
    const heard: string[] = [];
    await record(driver, ...lives("O1"));
    await using subscription = await opened(
      driver,
      ({ status }, { missed, late }) => {
        if (broken && status === "created") throw new Error("never");
        heard.push(
          `${status}${late ? " late" : ""} after ${missed.join() || "all"}`,
        );
      },
      { maxAttempts: 3, retryDelayMs: () => 0 },
    );
    assert.deepEqual(await subscription.dispatch(), {
      delivered: 3,
      failed: 3,
    });
    const created = "order:O1:confirmed.created";
    assert.deepEqual(
      heard.splice(0),
      statuses.slice(1).map((status) => `${status} after ${created}`),
    );
    const subscriptions = new Subscriptions(driver, () => Date.parse(at(61)));
    const dead = await subscriptions.deadLetters("test");
    assert.deepEqual(
      dead.map(({ transition, attempts }) => [transition.key, attempts]),
      [[created, 3]],
    );
    assert.deepEqual(await subscription.dispatch(), {
      delivered: 0,
      failed: 0,
    });
    broken = false;
    assert.equal(await subscriptions[action]("test", "order:O9:x.y"), 0);
    assert.equal(await subscriptions[action]("test", created), 1);
    await record(driver, orderRead(9, { orderId: "O1", status: "cancelled" }));
    await subscription.dispatch();
    assert.deepEqual(
      heard,
      action === "retry"
        ? ["created late after all", "cancelled after all"]
        : ["cancelled after all"],
    );
    assert.deepEqual(await subscriptions.queued("test"), []);
    await driver.close();
  }
});

Deno.test("Subscriptions.hasten() delivers at once what waits for its next attempt", async () => {
  const driver = await emptyStore();
  let broken = true;
  const seen: string[] = [];
  await record(driver, ...lives("O1"));
  await using subscription = await opened(driver, ({ status }) => {
    if (broken) throw new Error("not now");
    seen.push(status);
  }, { retryDelayMs: () => 3_600_000 });
  await subscription.dispatch();
  broken = false;
  assert.deepEqual(await subscription.dispatch(), { delivered: 0, failed: 0 });
  const subscriptions = new Subscriptions(driver, () => Date.parse(at(61)));
  assert.equal(await subscriptions.hasten("test"), 1);
  assert.equal(await subscriptions.hasten("test"), 0);
  await subscription.dispatch();
  assert.deepEqual(seen, statuses);
  await driver.close();
});

Deno.test("Subscription.dispatch() lets a late letter that fails again hold nobody", async () => {
  const driver = await emptyStore();
  let broken = true;
  const heard: string[] = [];
  await record(driver, ...lives("O1"));
  await using subscription = await opened(
    driver,
    ({ status }, { missed }) => {
      if (broken && status === "created") throw new Error("never");
      heard.push(`${status} misses ${missed.length}`);
    },
    { maxAttempts: 1 },
  );
  await subscription.dispatch();
  const subscriptions = new Subscriptions(driver, () => Date.parse(at(61)));
  await subscriptions.retry("test");
  await record(driver, orderRead(9, { orderId: "O1", status: "cancelled" }));
  await subscription.dispatch();
  assert.deepEqual(heard.at(-1), "cancelled misses 1");
  assert.equal((await subscriptions.deadLetters("test")).length, 1);
  broken = false;
  await subscriptions.retry("test");
  await subscription.dispatch();
  assert.deepEqual(heard.at(-1), "created misses 0");
  await driver.close();
});

Deno.test("Subscription.dispatch() keeps the order of one whose first letter is sent by hand before any later one", async () => {
  const driver = await emptyStore();
  let broken = true;
  const heard: string[] = [];
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  await using subscription = await opened(driver, ({ status }, { late }) => {
    if (broken) throw new Error("never");
    heard.push(`${status}${late ? " late" : ""}`);
  }, { maxAttempts: 1 });
  await subscription.dispatch();
  broken = false;
  const subscriptions = new Subscriptions(driver, () => Date.parse(at(61)));
  await subscriptions.retry("test");
  await record(driver, orderRead(2, { orderId: "O1", status: "progress" }));
  await subscription.dispatch();
  assert.deepEqual(heard, ["created", "progress"]);
  await driver.close();
});

Deno.test("Subscription.dispatch() calls the handler side by side across entities, and in order within one", async () => {
  const driver = await emptyStore();
  await record(driver, ...lives("O1", "O2", "O3"));
  const running = new Set<string>();
  const seen: Record<string, string[]> = { O1: [], O2: [], O3: [] };
  let most = 0;
  await using subscription = await opened(driver, async ({ id, status }) => {
    assert.ok(!running.has(id), `${id} is told of one thing at a time`);
    running.add(id);
    most = Math.max(most, running.size);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running.delete(id);
    seen[id]?.push(status);
  }, { concurrency: 2 });
  assert.deepEqual(await subscription.dispatch(), { delivered: 12, failed: 0 });
  assert.deepEqual(seen, { O1: statuses, O2: statuses, O3: statuses });
  assert.equal(most, 2);
  for (const concurrency of [0, 1.5, NaN]) {
    await assert.rejects(opened(driver, () => {}, { concurrency }), RangeError);
  }
  await driver.close();
});

Deno.test("Subscription.dispatch() goes on with others while one handler takes long, and writes what is done", async () => {
  const driver = await emptyStore();
  await record(driver, ...lives("O1", "O2"));
  let end = () => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  const seen: string[] = [];
  await using subscription = await opened(driver, async ({ id, status }) => {
    if (id === "O1" && status === "created") await ended;
    seen.push(`${id} ${status}`);
    if (id === "O2" && status === "pending") throw new Error("not now");
  });
  const dispatched = subscription.dispatch();
  const subscriptions = new Subscriptions(driver, () => Date.parse(at(61)));
  await until(async () => (await subscriptions.queued("test")).length === 2);
  assert.deepEqual(seen, ["O2 created", "O2 progress", "O2 pending"]);
  const [status] = await subscriptions.list();
  assert.equal(status?.behind, 8, "the checkpoint stays before the slow one");
  end();
  await dispatched;
  assert.equal((await subscriptions.list())[0]?.behind, 0);
  await driver.close();
});

Deno.test("Subscription.dispatch() writes a checkpoint for a group, not for each transition", async () => {
  const driver = await emptyStore();
  const orders = Array.from({ length: 50 }, (_, at) => `O${at}`);
  await record(driver, ...lives(...orders));
  const counted = crashingDriver(driver, Infinity, "before");
  await using subscription = await opened(counted, () => {});
  assert.deepEqual(await subscription.dispatch(), {
    delivered: 200,
    failed: 0,
  });
  assert.ok(counted.writes <= 4, `${counted.writes} writes`);
  await driver.close();
});

Deno.test("Subscription.dispatch() of a second process under the same name loses the race, and tells nothing wrong", async () => {
  const driver = await emptyStore();
  await record(driver, ...lives("O1"));
  const seen: string[] = [];
  let second: Subscription | null = null;
  await using first = await opened(driver, async ({ status }) => {
    seen.push(`first ${status}`);
    const other = second;
    second = null;
    await other?.dispatch();
  });
  await using other = await opened(driver, ({ status }) => {
    seen.push(`second ${status}`);
  });
  second = other;
  await assert.rejects(first.dispatch(), /changed|conflict|first/i);
  assert.deepEqual(await first.dispatch(), { delivered: 0, failed: 0 });
  assert.deepEqual(
    seen.filter((one) => one.startsWith("second")),
    statuses.map((status) => `second ${status}`),
  );
  await driver.close();
});

Deno.test("Subscription.dispatch() delivers each transition at least once and in order, whatever fails and dies", async () => {
  const orders = ["O1", "O2", "O3"];
  const world = fc.record({
    fails: fc.array(fc.boolean(), { maxLength: 40 }),
    deaths: fc.array(
      fc.record({
        write: fc.integer({ min: 1, max: 6 }),
        when: fc.constantFrom("before" as const, "after" as const),
      }),
      { maxLength: 4 },
    ),
    concurrency: fc.integer({ min: 1, max: 4 }),
    turns: fc.array(fc.nat(3), { minLength: 1, maxLength: 20 }),
    maxAttempts: fc.constantFrom(2, 1000),
  });
  await fc.assert(
    fc.asyncProperty(world, async (world) => {
      const driver = await emptyStore();
      const fails = [...world.fails];
      let turn = 0;
      const seen: Record<string, { status: string; missed: string[] }[]> = {};
      const handler: TransitionHandler = async ({ id, status }, context) => {
        const turns = world.turns[turn++ % world.turns.length] ?? 0;
        for (let at = 0; at < turns; at++) await Promise.resolve();
        if (fails.pop()) throw new Error("not now");
        const missed = context.missed.map((key) => key.split(".").at(-1) ?? "");
        (seen[id] ??= []).push({ status, missed });
      };
      const options = {
        retryDelayMs: () => 0,
        concurrency: world.concurrency,
        maxAttempts: world.maxAttempts,
      };
      const deaths = [...world.deaths, { write: 0, when: "after" as const }];
      for (const [life, { write, when }] of deaths.entries()) {
        await record(
          driver,
          ...orders.map((orderId) =>
            orderRead(life, { orderId, status: statuses[life] ?? "success" })
          ),
        );
        if (life === deaths.length - 1) {
          await record(driver, ...lives(...orders));
        }
        try {
          const subscription = await opened(
            crashingDriver(driver, write, when),
            handler,
            options,
          );
          await subscription.dispatch();
        } catch (error) {
          assert.ok(error instanceof Crash, String(error));
        }
      }
      const dead = await rowsOf(
        driver,
        "SELECT entity_id, status FROM queued_transitions WHERE state = 'dead'",
      );
      const left = await rowsOf(
        driver,
        "SELECT * FROM queued_transitions WHERE state <> 'dead'",
      );
      assert.deepEqual(left, []);
      for (const order of orders) {
        const told = seen[order] ?? [];
        const logged = (await rowsOf(
          driver,
          `SELECT status FROM transitions WHERE entity_id = '${order}' ORDER BY seq`,
        )).map(([status]) => String(status));
        const lost = dead.filter(([id]) => id === order)
          .map(([, status]) => String(status));
        for (const status of logged) {
          const came = told.some((one) => one.status === status);
          assert.ok(came || lost.includes(status), `${order} ${status}`);
        }
        const known = new Set<string>();
        for (const { status, missed } of told) {
          // What precedes it came before it, or is named as missed.
          for (const earlier of logged.slice(0, logged.indexOf(status))) {
            assert.ok(
              known.has(earlier) || missed.includes(earlier),
              `${order} ${status} without ${earlier}`,
            );
          }
          known.add(status);
        }
      }
      await driver.close();
    }),
    { numRuns: 60 },
  );
});

Deno.test("Subscription.wake() delivers what is new, and stop() waits for the handler", async () => {
  const driver = await emptyStore();
  const keys: string[] = [];
  let delivered = () => {};
  const first = new Promise<void>((resolve) => delivered = resolve);
  const subscription = await opened(driver, ({ key }, { signal }) => {
    keys.push(key);
    assert.equal(signal.aborted, false);
    delivered();
  }, { start: true, idleMs: 3_600_000 });
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  subscription.wake();
  await first;
  await subscription.stop();
  await record(driver, orderRead(2, { orderId: "O2", status: "created" }));
  subscription.wake();
  assert.deepEqual(keys, ["order:O1:confirmed.created"]);
  await driver.close();
});

Deno.test("Subscription.open() tells of a failing database and goes on", async () => {
  const driver = await emptyStore();
  let failing = true;
  const errors: string[] = [];
  const flaky: Driver = {
    ...driver,
    location: "memory",
    batch(statements, mode) {
      if (failing && mode === "read") return Promise.reject(new Error("gone"));
      return driver.batch(statements, mode);
    },
    close: () => Promise.resolve(),
  };
  await record(driver, orderRead(1, { orderId: "O1", status: "created" }));
  let delivered = () => {};
  const done = new Promise<void>((resolve) => delivered = resolve);
  await using _subscription = await opened(flaky, () => delivered(), {
    start: true,
    onError: (error) => {
      errors.push((error as Error).message);
      failing = errors.length < 3;
    },
    sleep: () => Promise.resolve(),
  });
  await done;
  assert.deepEqual(errors, ["gone", "gone", "gone"]);
});

Deno.test("Subscriptions.fire() tells of what a refold or an import made true, once", async () => {
  const driver = await emptyStore();
  await record(driver, ...lives("O1", "a:claimed.b"));
  const keys: string[] = [];
  await using subscription = await opened(driver, ({ key }) => {
    keys.push(key);
  }, { from: "now" });
  // What a refold leaves: states that no transition speaks of, or a past one.
  await driver.batch([{
    sql:
      "DELETE FROM transitions WHERE entity_id = 'O1' AND status = 'success'",
    args: [],
  }, {
    sql: "UPDATE transitions SET live = 0 WHERE entity_id = 'a:claimed.b'",
    args: [],
  }], "write");
  const subscriptions = new Subscriptions(driver, () => Date.parse(at(70)));
  const missing = await subscriptions.unfired();
  assert.deepEqual(missing.map(({ key }) => key), [
    "order:O1:confirmed.success",
  ]);
  const all = await subscriptions.unfired({ imported: true });
  assert.deepEqual(all.map(({ key }) => key), [
    "order:O1:confirmed.success",
    "order:a:claimed.b:confirmed.success",
  ]);
  assert.equal(await subscriptions.fire(["order:O1:confirmed.failed", "x"]), 0);
  const wanted = all.map(({ key }) => key);
  assert.equal(await subscriptions.fire(wanted), 2);
  assert.equal(await subscriptions.fire(wanted), 0);
  await subscription.dispatch();
  assert.deepEqual(keys, wanted);
  assert.deepEqual(await subscriptions.unfired({ imported: true }), []);
  await driver.close();
});

Deno.test("Subscription.dispatch() hands over the state as it is now, and whether to release the goods", async () => {
  const driver = await emptyStore();
  const heard: string[] = [];
  await using subscription = await opened(
    driver,
    ({ status }, { state, release, current, position }) => {
      heard.push(
        `${status}: ${current ? "still" : "now"} ${state?.status} at ` +
          `${position}, release ${release}`,
      );
    },
    { on: ["order.confirmed.*", "user.lkyc.claimed.*"] },
  );
  const success = orderRead(1, { orderId: "O1", status: "success" });
  await record(driver, success);
  await subscription.dispatch();
  // Forged webhooks change nothing of it.
  await record(
    driver,
    orderWebhook("W1", 2, { type: "order_failed", orderId: "O1", user: "U1" }),
    orderRead(3, { orderId: "O2", status: "success", changed: 3 }),
    orderRead(4, { orderId: "O2", status: "failed", changed: 4 }),
  );
  await subscription.dispatch();
  assert.deepEqual(heard, [
    "success: still success at 1, release yes",
    "success: still initiated at 4, release null",
    "success: now failed at 4, release no",
    "failed: still failed at 4, release no",
  ]);
  await driver.close();
});
