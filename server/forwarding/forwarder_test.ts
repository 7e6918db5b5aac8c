import assert from "node:assert/strict";
import { Subscriptions } from "../../ledger/mod.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";
import { monthReading } from "../../ledger/testing/month_test_events.ts";
import { newLedger } from "../../ledger/testing/fold_kit.ts";
import {
  Crash,
  crashingDriver,
  orderRead,
  rowsOf,
} from "../../ledger/testing/projection_test_kit.ts";
import { until } from "../../tests/kit/until.ts";
import {
  forwarderOn,
  lives,
  Receiver,
  record,
  runUntil,
  STATUSES,
} from "./testing/forwarding_kit.ts";
import {
  FORWARD_ATTEMPTS,
  forwardDelayMs,
  LONGEST_FORWARD_DELAY_MS,
} from "./forwarder.ts";

const NAME = "forward:https://shop.example/hooks";

Deno.test("Forwarder.run() sends each transition once, signed, with the state as it is", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1", "O2"));
  const receiver = new Receiver();
  const { forwarder, told } = forwarderOn(driver, receiver);
  await runUntil(forwarder, () => until(() => receiver.taken.length === 8));
  assert.deepEqual(receiver.firsts("O1"), STATUSES);
  assert.equal(receiver.came, 8);
  const [created] = receiver.taken;
  assert.equal(created?.type, "order.confirmed.created");
  assert.equal(created?.data.current, false);
  const success = receiver.taken.find(({ data }) =>
    data.key === "order:O1:confirmed.success"
  );
  assert.deepEqual(
    [success?.data.previous, success?.data.release, success?.data.current],
    [{ status: "pending", trust: "confirmed" }, "wait", true],
  );
  assert.equal(success?.data.state?.status, "success");
  assert.ok("currencyAmount" in (success?.data.state ?? {}));
  assert.equal(success?.data.position, 8);
  assert.deepEqual(told.log.map(({ event }) => event), ["forwarding"]);
  assert.equal(told.metrics.get("rampkit.forward.attempts"), 8);
  await driver.close();
});

Deno.test("Forwarder.run() states of a yes what the ledger decided by its own asset table", async () => {
  // Of production five decimals of CCD count, of the sandbox eighteen.
  await using ledger = await emptyLedger({
    assets: "production",
    now: () => Date.parse("2026-11-20T08:00:00Z"),
  });
  await ledger.expect({
    clickId: "C-PERSON",
    reference: "basket-1",
    commodity: "CCD",
    network: "concordium",
    commodityAmount: "1.000001",
  });
  await ledger.append([monthReading({
    at: "2026-11-20T10:00:00Z",
    fields: { crypto: `"ccd.simple.concordium"`, crypto_amount: "1.000002" },
  })]);
  await ledger.goLive("2026-11-20T07:00:00.000Z");
  await ledger.project();
  const receiver = new Receiver();
  const { forwarder } = forwarderOn(ledger.driver, receiver, {
    ledger,
    to: "https://shop.example/hooks order.release.yes",
  });
  await runUntil(forwarder, () => until(() => receiver.taken.length === 1));
  const [yes] = receiver.taken;
  assert.deepEqual(
    [yes?.data.release, yes?.data.releaseReason, yes?.data.current],
    ["yes", "session_matched", true],
  );
});

Deno.test("Forwarder.run() begins a new target with what happens from now on", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1"));
  const receiver = new Receiver();
  const { forwarder } = forwarderOn(driver, receiver, { from: "now" });
  await runUntil(forwarder, async () => {
    const subscriptions = new Subscriptions(driver, Date.now);
    await until(async () => (await subscriptions.list()).length === 1);
    await record(driver, orderRead(9, { orderId: "O2", status: "created" }));
    await until(() => receiver.taken.length === 1);
  });
  assert.equal(receiver.taken[0]?.data.id, "O2");
  await driver.close();
});

Deno.test("Forwarder.run() keeps the order of an order under failures, and lets no other wait", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1", "O2", "O3"));
  const receiver = new Receiver();
  let failures = 0;
  receiver.answer = ({ data }) => {
    if (data.id !== "O1" || failures >= 6) return 204;
    failures++;
    return [500, null, new Response(null, { status: 307 })][failures % 3] ??
      503;
  };
  const { forwarder, told } = forwarderOn(driver, receiver);
  await runUntil(forwarder, () => until(() => receiver.taken.length === 12));
  for (const order of ["O1", "O2", "O3"]) {
    assert.deepEqual(receiver.firsts(order), STATUSES);
  }
  assert.deepEqual(
    receiver.taken.slice(0, 8).filter(({ data }) => data.id === "O1"),
    [],
  );
  assert.ok(
    told.log.every(({ fields }) => !JSON.stringify(fields).includes("whsec")),
  );
  await driver.close();
});

Deno.test("Forwarder.run() reports once that a target rejects deliveries, and once that it accepts them again", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1"));
  const receiver = new Receiver();
  receiver.answer = () => receiver.came < 9 ? 500 : 204;
  const { forwarder, told } = forwarderOn(driver, receiver);
  await runUntil(forwarder, () => until(() => receiver.taken.length === 4));
  assert.deepEqual(
    told.log.map(({ event }) => event),
    ["forwarding", "forward_failing", "forward_recovered"],
  );
  assert.match(JSON.stringify(told.log[1]?.fields), /The target answered 500/);
  await driver.close();
});

Deno.test("Forwarder.run() waits as long as the receiver asks, and gives up after so many attempts", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1"));
  const receiver = new Receiver();
  receiver.answer = ({ data }) =>
    data.status === "created"
      ? new Response(null, { status: 503, headers: { "retry-after": "7" } })
      : 204;
  const asked: (number | null)[] = [];
  const { forwarder, told } = forwarderOn(driver, receiver, {
    maxAttempts: 2,
    retryDelayMs: (_attempt, _random, retryAfterMs) => {
      asked.push(retryAfterMs);
      return 0;
    },
  });
  await runUntil(forwarder, () => until(() => receiver.taken.length === 3));
  assert.deepEqual(asked, [7000, 7000]);
  const created = "order:O1:confirmed.created";
  for (const { data } of receiver.taken) {
    assert.deepEqual(data.missed, [created]);
  }
  const dead = told.log.find(({ event }) => event === "forward_dead");
  assert.match(JSON.stringify(dead?.fields), /order:O1:confirmed\.created/);
  // Sent by hand it is late.
  receiver.answer = () => 204;
  assert.equal(await new Subscriptions(driver, Date.now).retry(NAME), 1);
  const again = forwarderOn(driver, receiver);
  await runUntil(
    again.forwarder,
    () => until(() => receiver.taken.length === 4),
  );
  assert.deepEqual(
    [receiver.taken[3]?.data.key, receiver.taken[3]?.data.late],
    [created, true],
  );
  await driver.close();
});

Deno.test("Forwarder.run() switches a target off on 410, and sends all of it once it is resumed", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1"));
  const receiver = new Receiver();
  receiver.answer = () => 410;
  let looks = 0;
  const { forwarder, told } = forwarderOn(driver, receiver, {
    sleep: (ms, signal) => {
      looks++;
      return quick(Math.min(ms, 20), signal);
    },
  });
  const subscriptions = new Subscriptions(driver, Date.now);
  await runUntil(forwarder, async () => {
    await until(async () =>
      (await subscriptions.list())[0]?.target?.offReason === "answered 410"
    );
    const { came } = receiver;
    receiver.answer = () => 204;
    await record(driver, orderRead(9, { orderId: "O2", status: "created" }));
    const before = looks;
    await until(() => looks > before + 3);
    assert.equal(receiver.came, came, "nothing is sent while it is off");
    assert.equal(await subscriptions.resume(NAME), true);
    assert.equal(await subscriptions.resume(NAME), false);
    await until(() => receiver.taken.length === 5);
  });
  assert.deepEqual(receiver.firsts("O1"), STATUSES);
  const off = told.log.filter(({ event }) => event === "forward_off");
  assert.equal(off.length, 1);
  assert.match(JSON.stringify(off), new RegExp(`resume ${NAME}"`));
  await driver.close();
});

Deno.test("Forwarder.run() lets the whole target rest as long as a 429 says", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1", "O2"));
  const receiver = new Receiver();
  receiver.answer = () =>
    receiver.came > 1 ? 204 : new Response(null, {
      status: 429,
      headers: { "retry-after": "2" },
    });
  let steadyMs = 0;
  const slept: number[] = [];
  const { forwarder } = forwarderOn(driver, receiver, {
    concurrency: 1,
    steadyNow: () => steadyMs,
    sleep: (ms, signal) => {
      slept.push(ms);
      if (ms === 2000) steadyMs += ms;
      return quick(Math.min(ms, 5), signal);
    },
  });
  await runUntil(forwarder, () => until(() => receiver.taken.length === 8));
  assert.equal(slept.filter((ms) => ms === 2000).length, 1);
  assert.deepEqual(receiver.firsts("O1"), STATUSES);
  await driver.close();
});

Deno.test("Forwarder.run() of a target that does not answer holds no other target", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1"));
  const slow = new Receiver();
  slow.answer = () => new Promise(() => {});
  const quickOne = new Receiver();
  const hanging = forwarderOn(driver, slow, {
    to: "https://slow.example/",
  });
  const other = forwarderOn(driver, quickOne);
  await runUntil(hanging.forwarder, async () => {
    await until(() => slow.came === 1);
    await runUntil(
      other.forwarder,
      () => until(() => quickOne.taken.length === 4),
    );
  });
  assert.equal(slow.came, 1);
  const [first, second] = await new Subscriptions(driver, Date.now).list();
  assert.deepEqual([first?.behind, second?.behind], [0, 5]);
  await driver.close();
});

Deno.test("Forwarder.run() of two processes sends from one, and the other takes over when it stops", async () => {
  const driver = await newLedger();
  const receiver = new Receiver();
  const pace = (ms: number, signal: AbortSignal) =>
    quick(Math.min(ms, 20), signal);
  const first = forwarderOn(driver, receiver, { holder: "a", sleep: pace });
  const second = forwarderOn(driver, receiver, { holder: "b", sleep: pace });
  const stopFirst = new AbortController();
  const running = first.forwarder.run(stopFirst.signal);
  await until(() => first.told.log.length === 1);
  await runUntil(second.forwarder, async () => {
    await record(driver, ...lives("O1"));
    await until(() => receiver.taken.length === 4);
    assert.equal(second.told.log.length, 0, "it waits for the lease");
    stopFirst.abort();
    await running;
    await until(() => second.told.log.length === 1);
    await record(driver, ...lives("O2"));
    await until(() => receiver.taken.length === 8);
  });
  assert.equal(receiver.came, 8, "nothing is sent twice");
  await driver.close();
});

Deno.test("Forwarder.run() that loses its lease in the middle stops, and nothing is lost or out of order", async () => {
  const driver = await newLedger();
  await record(driver, ...lives("O1", "O2"));
  const receiver = new Receiver();
  let block = () => {};
  const blocked = new Promise<void>((resolve) => block = resolve);
  let holding = true;
  receiver.answer = async ({ data }) => {
    if (holding && data.status === "progress") await blocked;
    return 204;
  };
  const pace = (ms: number, signal: AbortSignal) =>
    quick(Math.min(ms, 20), signal);
  const first = forwarderOn(driver, receiver, { holder: "a", sleep: pace });
  const second = forwarderOn(driver, receiver, { holder: "b", sleep: pace });
  await runUntil(first.forwarder, async () => {
    await until(() => receiver.came === 4);
    // As if the first process had been paused for longer than its lease.
    await driver.batch([{
      sql: "UPDATE leases SET expires_at = 0 WHERE name = ?",
      args: [`subscription:${NAME}`],
    }], "write");
    holding = false;
    await runUntil(second.forwarder, async () => {
      await until(() => second.told.log.length > 0 || receiver.came > 4);
      block();
      await until(() =>
        receiver.firsts("O1").length === 4 && receiver.firsts("O2").length === 4
      );
    });
  });
  for (const order of ["O1", "O2"]) {
    assert.deepEqual(receiver.firsts(order), STATUSES);
  }
  const [left] = await rowsOf(
    driver,
    "SELECT count(*) FROM outbox",
  );
  assert.deepEqual(left, [0]);
  await driver.close();
});

Deno.test("Forwarder.run() loses no transition and no order wherever its process dies", async () => {
  for (const when of ["before", "after"] as const) {
    let survived = false;
    for (let write = 1; !survived; write++) {
      assert.ok(write < 40, "it ends");
      const driver = await newLedger();
      await record(driver, ...lives("O1", "O2"));
      const receiver = new Receiver();
      const failed = new Set<string>();
      receiver.answer = ({ data }) => {
        if (data.status !== "progress" || failed.has(data.key)) return 204;
        failed.add(data.key);
        return 500;
      };
      const whole = () =>
        receiver.firsts("O1").length === 4 &&
        receiver.firsts("O2").length === 4;
      const dying = crashingDriver(driver, write, when);
      let dead = false;
      const first = forwarderOn(
        {
          ...dying,
          batch: async (statements, mode) => {
            try {
              return await dying.batch(statements, mode);
            } catch (error) {
              if (error instanceof Crash) dead = true;
              throw error;
            }
          },
        },
        receiver,
        { holder: "a", sleep: (_, signal) => quick(1, signal) },
      );
      await runUntil(first.forwarder, () => until(() => dead || whole()));
      survived = !dead;
      const again = forwarderOn(driver, receiver, { holder: "a" });
      await runUntil(again.forwarder, () => until(whole));
      for (const order of ["O1", "O2"]) {
        assert.deepEqual(receiver.firsts(order), STATUSES, `died at ${write}`);
      }
      await driver.close();
    }
  }
});

function quick(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}

Deno.test("ForwardReport.isOff() tells once of a target that is off, and again after it was resumed", async () => {
  const driver = await newLedger();
  const { report, told } = forwarderOn(driver, new Receiver());
  const off = { url: "https://shop.example/hooks", offAt: "", offReason: "" };
  const lines = () =>
    told.log.filter(({ event }) => event === "forward_off").length;
  report.isOff(off);
  report.isOff(off);
  assert.equal(lines(), 1);
  report.sending();
  report.isOff(off);
  assert.equal(lines(), 2);
  await driver.close();
});

Deno.test("forwardDelayMs() spreads ten attempts over three days, with jitter", () => {
  const total = (random: number) => {
    let sum = 0;
    for (let attempt = 1; attempt < FORWARD_ATTEMPTS; attempt++) {
      sum += forwardDelayMs(attempt, random, null);
    }
    return sum / 3_600_000;
  };
  assert.equal(FORWARD_ATTEMPTS, 10);
  assert.ok(total(0.5) > 75 && total(0.5) < 76, String(total(0.5)));
  assert.equal(forwardDelayMs(1, 0, null), 4000);
  assert.equal(forwardDelayMs(1, 1, null), 6000);
  assert.equal(forwardDelayMs(99, 0.5, null), 24 * 3_600_000);
});

Deno.test("forwardDelayMs() waits at least as long as the receiver asked, and at most a day for it", () => {
  assert.equal(forwardDelayMs(1, 0.5, 60_000), 60_000);
  assert.equal(forwardDelayMs(1, 0.5, 1), 5000);
  assert.equal(forwardDelayMs(1, 0.5, 1e12), 24 * 3_600_000);
});

Deno.test("forwardDelayMs() is never longer than the longest that is said", () => {
  for (let attempt = 1; attempt <= FORWARD_ATTEMPTS; attempt++) {
    const delayMs = forwardDelayMs(attempt, 0.999, Infinity);
    assert.ok(delayMs <= LONGEST_FORWARD_DELAY_MS, String(delayMs));
  }
});
