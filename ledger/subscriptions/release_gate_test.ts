import assert from "node:assert/strict";
import { newLedger } from "../testing/fold_kit.ts";
import {
  goLive,
  opened,
  record,
  subscriptionsOf,
} from "../testing/subscription_kit.ts";
import type { NewEvent } from "../events/event.ts";
import { orderAbsent, orderReleased, userSnapshot } from "../testing/mint.ts";
import type { Driver } from "../store/database.ts";
import { readTransitions } from "../reads/releases.ts";
import {
  at,
  orderRead,
  rowsOf,
  session,
  webhook,
} from "../testing/projection_test_kit.ts";
import type { SubscribeOptions } from "./outbox.ts";

const salt = new Uint8Array(16);

/** The service shows the order, paid as expected. */
function paid(minute: number): NewEvent {
  return orderRead(minute, {
    orderId: "O1",
    status: "success",
    click: "C1",
    tx: "0xT",
    created: 2,
    changed: 3,
  });
}

/** The service does not show the order. */
function gone(minute: number): NewEvent {
  return orderAbsent({
    orderId: "O1",
    readAt: at(minute),
    recordedAt: at(minute),
    salt,
  });
}

/** A receiver that notes what it is called with, and may fail. */
class Receiver {
  readonly seen: string[] = [];
  fails = false;
  /** Called in the middle of a call. */
  during: () => Promise<void> = () => Promise.resolve();
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  async dispatch(
    on: SubscribeOptions["on"],
    options: Partial<SubscribeOptions> = {},
  ): Promise<string[]> {
    const before = this.seen.length;
    await using subscription = await opened(
      this.#driver,
      async ({ key, reverses }, { late }) => {
        const facts = [
          ...reverses.map((one) => `reverses ${one}`),
          ...(late ? ["late"] : []),
        ];
        this.seen.push([key.slice("order:".length), ...facts].join(", "));
        await this.during();
        if (this.fails) throw new Error("not now");
      },
      { on, retryDelayMs: () => 0, maxAttempts: 3, ...options },
    );
    await subscription.dispatch();
    return this.seen.slice(before);
  }
}

const EXPECTED = session(0, "S1", "C1");

Deno.test("Subscription.dispatch() hands over no yes that was withdrawn, and hands it over under its own key once it is restored", async () => {
  const driver = await newLedger();
  const receiver = new Receiver(driver);
  await record(driver, EXPECTED, paid(5), gone(6));
  assert.deepEqual(await receiver.dispatch("order.release.yes"), []);
  await record(driver, paid(7));
  assert.deepEqual(await receiver.dispatch("order.release.yes"), [
    "O1:release.yes, late",
  ]);
  await record(driver, gone(8), paid(9));
  assert.deepEqual(await receiver.dispatch("order.release.yes"), []);
  await driver.close();
});

Deno.test("Subscription.dispatch() says reverses yes to a handler that was called with it, and to no other", async () => {
  const driver = await newLedger();
  const receiver = new Receiver(driver);
  await record(driver, EXPECTED, paid(5), gone(6));
  assert.deepEqual(await receiver.dispatch("order.release.*"), [
    "O1:release.wait",
  ]);
  await record(driver, paid(7));
  assert.deepEqual(await receiver.dispatch("order.release.*"), [
    "O1:release.yes, late",
  ]);
  await record(driver, gone(8));
  assert.deepEqual(await receiver.dispatch("order.release.*"), [
    "O1:release.wait#2, reverses yes",
  ]);
  await record(driver, paid(9));
  assert.deepEqual(await receiver.dispatch("order.release.*"), [
    "O1:release.restored#2",
  ]);
  // A handler of withdrawals alone cannot know who shipped.
  const other = new Receiver(driver);
  await using subscription = await opened(
    driver,
    ({ key, reverses }) => {
      other.seen.push(`${key} ${reverses}`);
    },
    { on: "order.release.wait" },
    { name: "withdrawals" },
  );
  await subscription.dispatch();
  assert.deepEqual(other.seen, [
    "order:O1:release.wait yes",
    "order:O1:release.wait#2 yes",
  ]);
  await driver.close();
});

Deno.test("Subscription.dispatch() takes a yes back that was begun when a person delivers the purchase with another order", async () => {
  const driver = await newLedger();
  const receiver = new Receiver(driver);
  const second = orderRead(6, { orderId: "O2", status: "success", tx: "0xT2" });
  await record(driver, session(0, "S1", "C1", "10", "basket-1"), paid(5));
  assert.deepEqual(await receiver.dispatch("order.release.*"), [
    "O1:release.yes",
  ]);
  const byHand = orderReleased({
    released: {
      order_id: "O2",
      outcome: "delivered",
      by: "Ada",
      why: "paid at the counter",
      for: "basket-1",
    },
    recordedAt: at(7),
    salt,
  });
  await record(driver, second, byHand);
  assert.deepEqual(await receiver.dispatch("order.release.*"), [
    "O2:release.unchecked",
    "O1:release.wait, reverses yes",
    "O2:release.settled",
  ]);
  const twice = (await readTransitions(driver, { id: "O1" })).at(-1);
  assert.equal(twice?.logged?.reason, "paid_twice");
  assert.deepEqual(twice?.reverses, ["yes"]);
  await driver.close();
});

Deno.test("Subscription.dispatch() passes a retry of yes through the same gate", async () => {
  const driver = await newLedger();
  const receiver = new Receiver(driver);
  await record(driver, EXPECTED, paid(5));
  receiver.during = async () => {
    receiver.during = () => Promise.resolve();
    await record(driver, gone(6));
    throw new Error("not now");
  };
  // It was reversed while the handler ran: the race that remains.
  assert.deepEqual(
    await receiver.dispatch("order.release.*"),
    ["O1:release.yes", "O1:release.wait, reverses yes"],
  );
  await record(driver, paid(7));
  assert.deepEqual(await receiver.dispatch("order.release.*"), [
    "O1:release.yes, late",
  ]);
  await driver.close();
});

Deno.test("Subscriptions.retry() of a yes that was withdrawn calls nobody until it is restored", async () => {
  const driver = await newLedger();
  const receiver = new Receiver(driver);
  const subscriptions = subscriptionsOf(driver);
  await record(driver, EXPECTED, paid(5));
  receiver.fails = true;
  for (let tries = 0; tries < 3; tries++) {
    await receiver.dispatch("order.release.yes");
  }
  assert.equal((await subscriptions.deadLetters("test")).length, 1);
  receiver.fails = false;
  await record(driver, gone(6));
  assert.equal(await subscriptions.retry("test"), 1);
  assert.deepEqual(await receiver.dispatch("order.release.yes"), []);
  await record(driver, paid(7));
  assert.deepEqual(await receiver.dispatch("order.release.yes"), [
    "O1:release.yes, late",
  ]);
  assert.deepEqual(await subscriptions.queued("test"), []);
  await driver.close();
});

Deno.test("Subscription.dispatch() tries no yes again that was withdrawn, though its subscription takes none any more", async () => {
  const driver = await newLedger();
  const receiver = new Receiver(driver);
  await record(driver, EXPECTED, paid(5));
  receiver.fails = true;
  await receiver.dispatch("order.release.yes", { maxAttempts: 1 });
  receiver.fails = false;
  await record(driver, gone(6));
  assert.equal(await subscriptionsOf(driver).retry("test"), 1);
  assert.deepEqual(await receiver.dispatch("order.claimed.*"), []);
  await driver.close();
});

Deno.test("Subscription.dispatch() hands a dead yes over again when it is restored, and forgets the dead letter", async () => {
  const driver = await newLedger();
  const receiver = new Receiver(driver);
  const subscriptions = subscriptionsOf(driver);
  await record(driver, EXPECTED, paid(5));
  receiver.fails = true;
  for (let tries = 0; tries < 3; tries++) {
    await receiver.dispatch("order.release.yes");
  }
  receiver.fails = false;
  await record(driver, gone(6), paid(7));
  assert.deepEqual(await receiver.dispatch("order.release.yes"), [
    "O1:release.yes, late",
  ]);
  assert.deepEqual(await subscriptions.deadLetters("test"), []);
  await driver.close();
});

Deno.test("Subscription.dispatch() parks each of many stale releases in a few writes", async () => {
  const driver = await newLedger();
  const orders = Array.from({ length: 40 }, (_, place) => `O${place}`);
  const read = (orderId: string, minute: number, status: string) =>
    orderRead(minute, {
      orderId,
      status,
      click: `C${orderId}`,
      tx: "0xT",
      created: 2,
      changed: minute,
    });
  await record(
    driver,
    ...orders.map((id) => session(0, `S${id}`, `C${id}`)),
    ...orders.map((id) => read(id, 3, "success")),
    ...orders.slice(20).map((id) => read(id, 4, "failed")),
  );
  const receiver = new Receiver(driver);
  const seen = await receiver.dispatch("order.release.yes");
  assert.deepEqual(
    seen.toSorted(),
    orders.slice(0, 20).map((id) => `${id}:release.yes`).sort(),
  );
  await driver.close();
});

Deno.test("Subscription.dispatch() reads the order and its reference together with the gate", async () => {
  const driver = await newLedger();
  await record(
    driver,
    session(0, "S1", "C1", "10", "basket-1"),
    session(0, "S2", "C2", "900", "basket-2"),
    paid(5),
    orderRead(5, {
      orderId: "O2",
      status: "success",
      click: "C2",
      tx: "0xT",
      created: 2,
    }),
  );
  let readings = 0;
  const counting: Driver = {
    location: driver.location,
    batch(statements, mode) {
      const isState = statements.some(({ sql }) => sql.includes("r.fold"));
      if (isState) readings++;
      // The gate marks what it hands over, so it writes.
      assert.ok(!isState || mode === "write");
      return driver.batch(statements, mode);
    },
    close: () => driver.close(),
  };
  const seen: string[] = [];
  await using subscription = await opened(
    counting,
    ({ key }, { current, release, reference, position }) => {
      seen.push(`${key} ${current} ${release} ${reference} ${position > 0}`);
    },
    { on: "order.release.*" },
  );
  await subscription.dispatch();
  assert.deepEqual(seen.toSorted(), [
    "order:O1:release.yes true yes basket-1 true",
    "order:O2:release.wait true wait null true",
  ]);
  assert.equal(readings, 1, "both in one group");
  await driver.close();
});

Deno.test("Subscriptions.fire() hands over a yes that was withheld, also where it was taken back and restored since", async () => {
  const driver = await newLedger();
  await goLive(driver, at(30));
  const receiver = new Receiver(driver);
  // A historic order that only a later expectation matches.
  await record(driver, paid(31));
  await record(driver, EXPECTED);
  await record(driver, gone(40));
  await record(driver, paid(41));
  assert.deepEqual(await receiver.dispatch("order.release.yes"), []);
  const subscriptions = subscriptionsOf(driver);
  const keys = (await subscriptions.unfired()).map(({ key }) => key);
  assert.deepEqual(keys, ["order:O1:release.yes"]);
  const attention = async () =>
    (await rowsOf(driver, "SELECT attention FROM orders"))[0]?.[0];
  assert.equal(await attention(), " yes_withheld ");
  assert.equal(await subscriptions.fire(keys), 1);
  assert.equal(await subscriptions.fire(keys), 0);
  assert.equal(await attention(), null);
  assert.deepEqual(await receiver.dispatch("order.release.yes"), [
    "O1:release.yes",
  ]);
  assert.deepEqual(await subscriptions.unfired(), []);
  // From now on it is as any other.
  await record(driver, gone(42), paid(43));
  assert.deepEqual(await receiver.dispatch("order.release.*"), [
    "O1:release.wait#2, reverses yes",
    "O1:release.restored#2",
  ]);
  await driver.close();
});

Deno.test("Subscriptions.unfired() names a yes that was withheld before whatever else nobody received", async () => {
  const driver = await newLedger();
  await goLive(driver, at(30));
  await record(driver, orderRead(30, { orderId: "A0", status: "pending" }));
  await record(driver, paid(31));
  await record(driver, EXPECTED);
  await driver.batch([{
    sql: "DELETE FROM log WHERE code = 'confirmed.pending'",
    args: [],
  }], "write");
  const found = await subscriptionsOf(driver).unfired();
  assert.deepEqual(found.map(({ key }) => key), [
    "order:O1:release.yes",
    "order:A0:confirmed.pending",
  ]);
  await driver.close();
});

Deno.test("Subscription.dispatch() hands restored over as that, and repeats no yes, where all came since it looked last", async () => {
  for (const on of ["order.release.*", "order.release.yes"] as const) {
    const driver = await newLedger();
    await record(driver, EXPECTED, paid(5), gone(6), paid(7));
    const seen: string[] = [];
    await using subscription = await opened(
      driver,
      ({ key, reverses }, { current }) => {
        seen.push(`${key} ${reverses} ${current}`);
      },
      { on },
    );
    await subscription.dispatch();
    assert.deepEqual(seen, [
      "order:O1:release.yes  true",
      ...on === "order.release.yes" ? [] : [
        "order:O1:release.wait yes false",
        "order:O1:release.restored  true",
      ],
    ]);
    await driver.close();
  }
});

Deno.test("Subscription.dispatch() says whether the machine that moved is still there, with its trust", async () => {
  const driver = await newLedger();
  const user = (minute: number, fkyc_status: string, banned: boolean) =>
    userSnapshot({
      source: JSON.stringify({
        ...{ user_id: "U1", fkyc_status, banned },
        created_at: "2026-11-20 08:01:00",
      }),
      readAt: at(minute),
      recordedAt: at(minute),
      salt,
    });
  const claim = webhook("W1", 1, {
    type: "verify_success",
    click_id: "",
    user: {
      user_id: "U1",
      verification_status: { fkyc: { state: "success" } },
    },
  });
  const seen: string[] = [];
  await using subscription = await opened(driver, ({ key }, { current }) => {
    seen.push(`${key} ${current}`);
  }, { on: "user.*.*.*" });
  await record(driver, claim, user(2, "success", false));
  await subscription.dispatch();
  assert.deepEqual(seen.splice(0), [
    "user:U1:fkyc.claimed.success false",
    "user:U1:fkyc.confirmed.success true",
    "user:U1:ban.confirmed.not_banned true",
  ]);
  await record(driver, user(3, "failed", true), user(4, "failed", false));
  await subscription.dispatch();
  assert.deepEqual(seen, [
    "user:U1:fkyc.confirmed.failed true",
    "user:U1:ban.confirmed.banned false",
    "user:U1:ban.confirmed.not_banned#2 true",
  ]);
  await driver.close();
});
