import assert from "node:assert/strict";
import { newLedger } from "../testing/fold_kit.ts";
import {
  lives,
  opened,
  receivedInOrder,
  record,
  statuses,
  subscriptionsOf,
} from "../testing/subscription_kit.ts";
import fc from "fast-check";
import { type Driver, LedgerError } from "../store/database.ts";
import { until } from "../../tests/kit/until.ts";
import {
  Crash,
  crashingDriver,
  orderRead,
  rowsOf,
} from "../testing/projection_test_kit.ts";
import { redeliveryDelayMs, type Subscription } from "./dispatcher.ts";
import type { TransitionHandler } from "./outbox.ts";
import { tries } from "../../tests/kit/thorough.ts";

Deno.test("Subscription.dispatch() delivers everything at least once and in order wherever the process dies", async () => {
  const orders = ["O1", "O2"];
  for (const when of ["before", "after"] as const) {
    for (const fails of [false, true]) {
      let survived = false;
      for (let write = 1; !survived; write++) {
        assert.ok(write < 40, "it ends");
        const driver = await newLedger();
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
          receivedInOrder(seen[order] ?? [], `${order} died at ${write}`);
          // A crash repeats what the group held that was not written.
          assert.ok((seen[order]?.length ?? 0) <= 2 * statuses.length);
        }
        assert.deepEqual(
          await rowsOf(driver, "SELECT * FROM outbox"),
          [],
        );
        await driver.close();
      }
    }
  }
});

Deno.test("Subscription.dispatch() tells nobody again because a write failed or its answer was lost", async () => {
  for (const when of ["before", "after"] as const) {
    let failures = 0;
    for (let write = 2; failures === write - 2; write++) {
      assert.ok(write < 40, "it ends");
      const driver = await newLedger();
      await record(driver, ...lives("O1", "O2"));
      const seen: string[] = [];
      const failed = new Set<string>();
      let writes = 0;
      let first = true;
      const flaky: Driver = {
        location: "memory",
        close: () => Promise.resolve(),
        async batch(statements, mode) {
          const fails = first && mode === "write" && ++writes === write;
          if (!fails) return await driver.batch(statements, mode);
          if (when === "after") await driver.batch(statements, mode);
          failures++;
          throw new LedgerError("unreachable", "no answer");
        },
      };
      const subscription = await opened(flaky, ({ key, status }) => {
        if (status === "progress" && !failed.has(key)) {
          failed.add(key);
          throw new Error("not now");
        }
        seen.push(key);
      }, { retryDelayMs: () => 0 });
      await subscription.dispatch().catch((error) =>
        assert.ok(error instanceof LedgerError)
      );
      first = false;
      await subscription.dispatch();
      assert.equal(seen.length, 8, `write ${write} failed ${when}`);
      assert.equal(new Set(seen).size, 8);
      await driver.close();
    }
    assert.ok(failures > 1);
  }
});

/** A driver that answers nothing from one write on, until it is back. */
function leaving(driver: Driver) {
  const state = { away: false, loseWrites: false };
  const away: Driver = {
    location: "memory",
    close: () => Promise.resolve(),
    async batch(statements, mode) {
      if (state.away) throw new LedgerError("unreachable", "no answer");
      if (!state.loseWrites || mode !== "write") {
        return await driver.batch(statements, mode);
      }
      state.away = true;
      await driver.batch(statements, mode);
      throw new LedgerError("unreachable", "the answer was lost");
    },
  };
  return { driver: away, state };
}

Deno.test("Subscription.dispatch() tells nobody again because the database was away for long", async () => {
  const orders = Array.from({ length: 150 }, (_, n) => `O${n}`);
  for (const written of [false, true]) {
    for (const slow of [false, true]) {
      const store = await newLedger();
      await record(store, ...lives(...orders));
      const { driver, state } = leaving(store);
      const seen: string[] = [];
      let end = () => {};
      const ended = new Promise<void>((resolve) => end = resolve);
      const subscription = await opened(driver, async ({ id, key }) => {
        // What is behind the first one is not below the checkpoint.
        if (slow && id === "O0") await ended;
        seen.push(key);
        if (seen.length !== 100) return;
        if (written) state.loseWrites = true;
        else state.away = true;
        end();
      }, { concurrency: 4 });
      for (let attempt = 0; attempt < 3; attempt++) {
        await assert.rejects(subscription.dispatch(), { code: "unreachable" });
      }
      state.away = false;
      state.loseWrites = false;
      await subscription.dispatch();
      assert.equal(seen.length, 600, `written ${written}, slow ${slow}`);
      assert.equal(new Set(seen).size, 600);
      assert.deepEqual(await rowsOf(store, "SELECT * FROM outbox"), []);
      await store.close();
    }
  }
});

Deno.test("Subscription.dispatch() forgets what it could not write once another process has delivered", async () => {
  const store = await newLedger();
  await record(store, ...lives("O1", "O2"));
  const { driver, state } = leaving(store);
  const seen: string[] = [];
  const handler = ({ key }: { readonly key: string }) => {
    seen.push(key);
  };
  const first = await opened(driver, (transition) => {
    handler(transition);
    state.away = seen.length <= 2;
  });
  await assert.rejects(first.dispatch(), { code: "unreachable" });
  assert.equal(seen.length, 2, "one of each order");
  // It has the holder of the first, as after a restart.
  const other = await opened(store, handler);
  await other.dispatch();
  assert.equal(seen.length, 10, "at least once");
  await other.stop();
  state.away = false;
  await record(store, ...lives("O3"));
  await first.dispatch();
  assert.equal(new Set(seen).size, 12);
  assert.equal(seen.length, 14);
  await store.close();
});

Deno.test("Subscription.dispatch() begins nothing more while two groups are not written", async () => {
  const orders = Array.from({ length: 150 }, (_, n) => `O${n}`);
  const store = await newLedger();
  await record(store, ...lives(...orders));
  let stuck = false;
  let free = () => {};
  const freed = new Promise<void>((resolve) => free = resolve);
  const driver: Driver = {
    location: "memory",
    close: () => Promise.resolve(),
    async batch(statements, mode) {
      if (stuck && mode === "write") await freed;
      return await store.batch(statements, mode);
    },
  };
  let told = 0;
  const subscription = await opened(driver, () => {
    told++;
    stuck = true;
  }, { concurrency: 16 });
  const dispatched = subscription.dispatch();
  await until(() => told >= 256);
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  assert.ok(told <= 256 + 16, `${told} are not written`);
  free();
  await dispatched;
  assert.equal(told, 600);
  await store.close();
});

Deno.test("Subscription.dispatch() calls the handler side by side across entities, and in order within one", async () => {
  const driver = await newLedger();
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
  const driver = await newLedger();
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
  const subscriptions = subscriptionsOf(driver);
  await until(async () => (await subscriptions.queued("test")).length === 2);
  assert.deepEqual(seen, ["O2 created", "O2 progress", "O2 pending"]);
  const [status] = await subscriptions.list();
  assert.equal(status?.behind, 4, "what is not told yet");
  end();
  await dispatched;
  assert.equal((await subscriptions.list())[0]?.behind, 0);
  await driver.close();
});

Deno.test("Subscription.dispatch() writes a checkpoint for a group, not for each transition", async () => {
  const driver = await newLedger();
  const orders = Array.from({ length: 50 }, (_, at) => `O${at}`);
  await record(driver, ...lives(...orders));
  const counted = crashingDriver(driver, Infinity, "before");
  await using subscription = await opened(counted, () => {});
  assert.deepEqual(await subscription.dispatch(), {
    delivered: 200,
    failed: 0,
  });
  // Two groups; and opening, taking and giving back the lease.
  assert.ok(counted.writes <= 6, `${counted.writes} writes`);
  await driver.close();
});

Deno.test("Subscription.dispatch() of a second process under the same name loses the race, and tells nothing wrong", async () => {
  const driver = await newLedger();
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
      const driver = await newLedger();
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
        `SELECT o.id, substr(t.code, 11) FROM outbox AS b
          JOIN log AS t ON t.seq = b.seq JOIN orders AS o ON o.no = b.no
          WHERE b.state IN ('dead', 'passed')`,
      );
      const left = await rowsOf(
        driver,
        "SELECT * FROM outbox WHERE state NOT IN ('dead', 'passed')",
      );
      assert.deepEqual(left, []);
      for (const order of orders) {
        const told = seen[order] ?? [];
        const logged = (await rowsOf(
          driver,
          `SELECT substr(code, 11) FROM log WHERE code GLOB 'confirmed.*'
            AND no = (SELECT no FROM orders WHERE id = '${order}')
            ORDER BY seq`,
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
    { numRuns: tries(40) },
  );
});

Deno.test("redeliveryDelayMs() doubles from a second to an hour", () => {
  assert.deepEqual([1, 2, 3, 12, 13, 1000].map(redeliveryDelayMs), [
    1000,
    2000,
    4000,
    2048_000,
    3600_000,
    3600_000,
  ]);
});
