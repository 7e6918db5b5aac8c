import assert from "node:assert/strict";
import { append, projectAll } from "../../ledger/testing/fold_kit.ts";
import { person } from "../../ledger/testing/person_events.ts";
import fc from "fast-check";
import { openDriver } from "../../ledger/mod.ts";
import { eraseBody } from "../../ledger/testing/mod.ts";
import { ledgerOn } from "../../ledger/for_server.ts";
import { type Driver, takeLease, writeSweep } from "../../ledger/for_sync.ts";
import { PollError, Recorder, type ServiceAnswer } from "./recorder.ts";
import {
  countingBytes,
  rows,
  startMs,
  storeOnly,
} from "../testing/polling_test_kit.ts";

let clockMs = startMs;

function recorder(driver: Driver): Recorder {
  return new Recorder({
    driver,
    lease: null,
    now: () => clockMs,
    randomBytes: countingBytes(),
  });
}

/** One order in a status, asked for a minute after the one before. */
function answer(status: string, orderId = "order-1"): ServiceAnswer {
  clockMs += 60_000;
  const changedAt = new Date(clockMs - 5000).toISOString().slice(0, 19)
    .replace("T", " ");
  return {
    sources: [JSON.stringify({ order_id: orderId, status })],
    states: [{ status, changed_at: changedAt }],
    missing: [],
    readAt: new Date(clockMs).toISOString(),
    requestedAtMs: clockMs,
  };
}

function absent(orderId = "order-1"): ServiceAnswer {
  return { ...answer(""), sources: [], states: [], missing: [orderId] };
}

async function kinds(driver: Driver): Promise<unknown[]> {
  return (await rows(driver, "SELECT kind FROM events ORDER BY position"))
    .map(([kind]) => kind);
}

Deno.test("record() appends a reading only when it differs from the one before: A, B, A is three", async () => {
  const driver = await storeOnly();
  const one = recorder(driver);
  for (const status of ["created", "created", "progress", "created"]) {
    await one.record("order", answer(status));
  }
  assert.equal((await kinds(driver)).length, 3);
  await driver.close();
});

Deno.test("record() takes any sequence of readings down to its changes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("created", "progress", "success", null), {
        maxLength: 12,
      }),
      async (statuses) => {
        const driver = await storeOnly();
        const one = recorder(driver);
        let changes = 0;
        let before: string | null | undefined;
        for (const status of statuses) {
          await one.record(
            "order",
            status === null ? absent() : answer(status),
          );
          if (status !== before) changes += 1;
          before = status;
        }
        assert.equal((await kinds(driver)).length, changes);
        await driver.close();
      },
    ),
    { numRuns: 30 },
  );
});

Deno.test("record() remembers the latest reading where its table was lost", async () => {
  const driver = await storeOnly();
  const one = recorder(driver);
  await one.record("order", answer("created"));
  await one.record("order", answer("progress"));
  await projectAll(driver);
  await driver.batch([{ sql: "DELETE FROM observations", args: [] }], "write");
  await one.record("order", answer("progress"));
  assert.equal((await kinds(driver)).length, 2);
  await projectAll(driver);
  await driver.batch([{ sql: "DELETE FROM observations", args: [] }], "write");
  await one.record("order", answer("created"));
  assert.equal((await kinds(driver)).length, 3);
  await driver.close();
});

Deno.test("record() keeps moves, and the progress of its caller, in the same batch", async () => {
  const driver = await storeOnly();
  const one = recorder(driver);
  await one.record("order", answer("created"));
  await one.record("order", answer("progress"), [
    writeSweep("mine", { at: 1 }, clockMs),
  ]);
  const moves = await rows(
    driver,
    "SELECT order_id, status, moved_at, seen_at FROM observed",
  );
  assert.deepEqual(moves.map((row) => [...row]), [[
    "order-1",
    "progress",
    new Date(clockMs - 5000).toISOString(),
    new Date(clockMs).toISOString(),
  ]]);
  const [[state] = []] = await rows(
    driver,
    "SELECT value FROM cursors WHERE name = 'mine'",
  );
  assert.equal(state, '{"at":1}');
  await driver.close();
});

Deno.test("record() leaves the old history of a first sight out of the moves", async () => {
  const driver = await storeOnly();
  await recorder(driver).record("order", {
    ...answer("success"),
    states: [{ status: "success", changed_at: "2020-01-01 00:00:00" }],
  });
  assert.deepEqual(await rows(driver, "SELECT 1 FROM observed"), []);
  await driver.close();
});

Deno.test("record() leaves a first sight out of the moves where an old order's change is dated ahead or not at all", async () => {
  const driver = await storeOnly();
  const one = recorder(driver);
  for (const changed_at of ["9999-12-31 23:59:59", null]) {
    for (const [name, hours] of [["old", 48], ["young", 1]] as const) {
      const created_at = new Date(clockMs - hours * 3_600_000).toISOString();
      await one.record("order", {
        ...answer("success", `${name}-${changed_at}`),
        states: [{ status: "success", created_at, changed_at }],
      });
    }
  }
  const moved = await rows(driver, "SELECT order_id FROM observed");
  assert.deepEqual(moved.map(([id]) => id).sort(), [
    "young-9999-12-31 23:59:59",
    "young-null",
  ]);
  await driver.close();
});

Deno.test("record() beside another recorder loses no new reading and stores none twice", async () => {
  const driver = await storeOnly();
  const one = recorder(driver);
  const other = recorder(driver);
  const readings = Array.from({ length: 40 }, (_, i) => `order-${i % 4}`);
  const answers = readings.map((id, i) => answer(`status-${i}`, id));
  await Promise.all(
    answers.map((each, i) => (i % 2 === 0 ? one : other).record("order", each)),
  );
  assert.equal((await kinds(driver)).length, 40);
  const latest = await rows(
    driver,
    "SELECT id, status FROM observations ORDER BY id",
  );
  assert.deepEqual(latest.map((row) => [...row]), [
    ["order-0", "status-36"],
    ["order-1", "status-37"],
    ["order-2", "status-38"],
    ["order-3", "status-39"],
  ]);
  await driver.close();
});

Deno.test("record() writes nothing for a poller that was replaced", async () => {
  const driver = await storeOnly();
  const lease = await takeLease(driver, {
    name: "poll",
    holder: "a",
    leaseMs: 0,
  });
  assert.ok("fence" in lease);
  const old = new Recorder({
    driver,
    lease,
    now: () => clockMs,
    randomBytes: countingBytes(),
  });
  await old.record("order", answer("created"));
  await driver.batch([{
    sql: "UPDATE leases SET expires_at = 0",
    args: [],
  }], "write");
  await takeLease(driver, { name: "poll", holder: "b", leaseMs: 60_000 });
  await assert.rejects(
    old.record("order", answer("progress")),
    (error) => error instanceof PollError && error.code === "lease_lost",
  );
  assert.deepEqual(await kinds(driver), ["order_snapshot"]);
  await driver.close();
});

Deno.test("record() holds statuses no text column could", async () => {
  const driver = await storeOnly();
  await recorder(driver).record("order", answer("on\0 hold \ud800"));
  const [[status] = []] = await rows(driver, "SELECT status FROM observations");
  assert.equal(status, "on hold \ufffd");
  await driver.close();
});

Deno.test("record() notes a user that is not there without an event", async () => {
  const driver = await storeOnly();
  await recorder(driver).record("user", absent("user-1"));
  assert.deepEqual(await kinds(driver), []);
  const found = await rows(driver, "SELECT entity, found FROM observations");
  assert.deepEqual(found.map((row) => [...row]), [["user", 0]]);
  await driver.close();
});

Deno.test("record() keeps what is true of a user when the service's clock was set back", async () => {
  const driver = await storeOnly();
  const one = recorder(driver);
  const user = async (banned: boolean, clockOffMs: number) => {
    clockMs += 60_000;
    await one.record("user", {
      sources: [JSON.stringify({ user_id: "user-1", banned })],
      states: [],
      missing: [],
      readAt: new Date(clockMs + clockOffMs).toISOString(),
      requestedAtMs: clockMs,
    });
    await projectAll(driver);
  };
  const counting = async () =>
    (await rows(
      driver,
      `SELECT CAST(body AS TEXT) FROM events
        ORDER BY read_at DESC LIMIT 1`,
    ))[0]?.[0];
  // Within two minutes of ours its clock is believed.
  await user(false, 110_000);
  await user(true, 0);
  assert.match(String(await counting()), /"banned":false/);
  for (let minute = 0; minute < 4; minute++) await user(true, 0);
  assert.match(String(await counting()), /"banned":true/);
  assert.equal((await kinds(driver)).length, 3);
  await driver.close();
});

/** Says what a user is, a minute after what was said before. */
async function recordUser(one: Recorder, banned: boolean): Promise<void> {
  clockMs += 60_000;
  await one.record("user", {
    sources: [JSON.stringify({ user_id: "user-1", banned })],
    states: [],
    missing: [],
    readAt: new Date(clockMs).toISOString(),
    requestedAtMs: clockMs,
  });
}

Deno.test("record() brings nothing back that was erased, until the service says something new", async () => {
  const driver = await storeOnly();
  const one = recorder(driver);
  await one.record("order", answer("created"));
  await one.record("order", answer("success"));
  await recordUser(one, false);
  await recordUser(one, true);
  await eraseBody(driver, 2);
  await eraseBody(driver, 4);
  for (let again = 0; again < 3; again++) {
    await one.record("order", answer("success"));
    await recordUser(one, true);
  }
  assert.equal((await kinds(driver)).length, 4);
  await eraseBody(driver, 3);
  await recordUser(one, true);
  assert.equal((await kinds(driver)).length, 4);
  await one.record("order", answer("cancelled"));
  await recordUser(one, false);
  assert.equal((await kinds(driver)).length, 6);
  await driver.close();
});

Deno.test("record() does not settle a claim with a reading that was erased", async () => {
  const driver = await openDriver({ url: ":memory:" });
  await using ledger = await ledgerOn(driver, { environment: "sandbox" });
  const one = recorder(driver);
  await recordUser(one, false);
  const user = {
    user_id: "user-1",
    verification_status: { lkyc: { state: "success" } },
  };
  await ledger.appendDelivery({
    id: "01J",
    receivedAt: new Date(clockMs + 1).toISOString(),
    body: new TextEncoder().encode(
      JSON.stringify({ type: "verify_success", user }),
    ),
  });
  await ledger.project();
  await recordUser(one, false);
  const readings = async () =>
    (await kinds(driver)).filter((kind) => kind === "user_snapshot").length;
  assert.equal(await readings(), 2, "a later reading settles it");
  await eraseBody(driver, 1);
  await eraseBody(driver, 3);
  await ledger.refold();
  const claimed = await ledger.users.get("user-1");
  assert.equal(claimed?.needsConfirm, true);
  await recordUser(one, false);
  assert.equal(await readings(), 2);
});

Deno.test("record() reads again what was erased where nobody remembers, as after an import", async () => {
  const driver = await storeOnly();
  const one = recorder(driver);
  await one.record("order", answer("success"));
  await recordUser(one, true);
  await eraseBody(driver, 1);
  await eraseBody(driver, 2);
  await projectAll(driver);
  await driver.batch([{ sql: "DELETE FROM observations", args: [] }], "write");
  await one.record("order", answer("success"));
  await recordUser(one, true);
  assert.equal((await kinds(driver)).length, 4);
  await driver.close();
});

/** What an order or a user shows at one moment of our clock. */
const SHOWN = {
  order: (status: string) => ({ order_id: "order-1", status }),
  orderOf2099: (status: string) => ({
    order_id: "order-1",
    status,
    changed_at: "2099-01-01 00:00:00",
  }),
  user: (lkyc_status: string) => ({ user_id: "user-1", lkyc_status }),
};

const CAUGHT_UP = Object.entries(SHOWN).flatMap(([name, row]) =>
  ["", ", and somebody else was erased"].map((also) =>
    [name, row, also] as const
  )
);

for (const [name, row, also] of CAUGHT_UP) {
  Deno.test(`record() appends a reading of ${name} again when our clock, once set back, has caught up${also}`, async () => {
    const driver = await openDriver({ url: ":memory:" });
    await using ledger = await ledgerOn(driver, { environment: "sandbox" });
    if (also !== "") {
      const other = person("ANNA");
      await append(driver, other.events);
      await ledger.project();
      await ledger.erasures.erase(other.userId, { force: true });
    }
    const before = (await kinds(driver)).length;
    const one = recorder(driver);
    const entity = name === "user" ? "user" : "order";
    const read = async (state: string, atMs: number) => {
      clockMs = atMs;
      await one.record(entity, {
        sources: [JSON.stringify(row(state))],
        states: [{ status: state, changed_at: null }],
        missing: [],
        readAt: new Date(atMs).toISOString(),
        requestedAtMs: atMs,
      });
      await ledger.project();
      return entity === "order"
        ? (await ledger.orders.get("order-1"))?.status
        : (await ledger.users.get("user-1"))?.verification.lkyc;
    };
    const minute = 60_000;
    await read("progress", startMs);
    // The clock is set back: the later reading counts as the earlier one.
    assert.equal(await read("success", startMs - 10 * minute), "progress");
    assert.equal(await read("success", startMs - 5 * minute), "progress");
    assert.equal((await kinds(driver)).length, before + 2);
    assert.equal(await read("success", startMs + minute), "success");
    assert.equal(await read("success", startMs + 2 * minute), "success");
    assert.equal((await kinds(driver)).length, before + 3);
  });
}

Deno.test("record() appends a reading again until it overtakes one without a status that a clock, set back since, dated later", async () => {
  const driver = await openDriver({ url: ":memory:" });
  await using ledger = await ledgerOn(driver, { environment: "sandbox" });
  const one = recorder(driver);
  const read = async (status: string | null, minute: number) => {
    clockMs = startMs + minute * 60_000;
    await one.record("order", {
      sources: [JSON.stringify({
        order_id: "order-1",
        status,
        changed_at: "2026-11-20 11:00:00",
      })],
      states: [{ status, changed_at: "2026-11-20 11:00:00" }],
      missing: [],
      readAt: new Date(clockMs).toISOString(),
      requestedAtMs: clockMs,
    });
    await ledger.project();
    const state = await ledger.orders.get("order-1");
    return state?.anomalies.map(({ kind }) => kind);
  };
  assert.deepEqual(await read(null, 30), ["unreadable_field"]);
  assert.deepEqual(await read("success", 0), ["unreadable_field"]);
  assert.deepEqual(await read("success", 31), []);
  assert.deepEqual(await read("success", 32), []);
  assert.equal((await kinds(driver)).length, 3);
});

for (const before of ["absent", "shown"] as const) {
  Deno.test(`record() tells that an order is there or not once our clock, set back after it was ${before}, has caught up`, async () => {
    const driver = await openDriver({ url: ":memory:" });
    await using ledger = await ledgerOn(driver, { environment: "sandbox" });
    const one = recorder(driver);
    const isAbsent = async (is: "absent" | "shown", atMs: number) => {
      clockMs = atMs - 60_000;
      const told = is === "absent" ? absent() : answer("progress");
      await one.record("order", {
        ...told,
        states: told.states.map((state) => ({ ...state, changedAt: null })),
      });
      await ledger.project();
      const order = await ledger.orders.get("order-1");
      return order?.anomalies.some(({ kind }) => kind === "absent");
    };
    const after = before === "absent" ? "shown" : "absent";
    const minute = 60_000;
    assert.equal(await isAbsent(before, startMs), before === "absent");
    // Read earlier, by our clock, than what it contradicts.
    for (const backMs of [10 * minute, 5 * minute]) {
      assert.equal(
        await isAbsent(after, startMs - backMs),
        before === "absent",
      );
    }
    assert.equal((await kinds(driver)).length, 2);
    for (const laterMs of [minute, 2 * minute]) {
      assert.equal(
        await isAbsent(after, startMs + laterMs),
        after === "absent",
      );
    }
    assert.equal((await kinds(driver)).length, 3);
  });
}

Deno.test("record() of a claw-back stops the goods at once when our clock was set back by hours, and calls it reversed once it has caught up", async () => {
  const driver = await openDriver({ url: ":memory:" });
  clockMs = startMs;
  await using ledger = await ledgerOn(driver, {
    environment: "sandbox",
    now: () => clockMs,
  });
  const one = recorder(driver);
  const minute = 60_000;
  const stated = (ms: number) =>
    new Date(ms).toISOString().slice(0, 19).replace("T", " ");
  const told: string[] = [];
  const goods = await ledger.subscribe(
    "goods",
    { on: "order.release.*", start: false },
    ({ key, reverses }) =>
      void told.push([key, ...reverses].join(" reverses ")),
  );
  const read = async (status: string, changedMs: number, atMs: number) => {
    clockMs = atMs;
    const changedAt = stated(changedMs);
    await one.record("order", {
      sources: [JSON.stringify({
        order_id: "order-1",
        status,
        click_id: "click-1",
        currency: "USD",
        currency_amount: 10,
        tx_id: `0x${"1".repeat(64)}`,
        created_at: stated(startMs + minute),
        changed_at: changedAt,
      })],
      states: [{ status, changed_at: changedAt }],
      missing: [],
      readAt: new Date(atMs).toISOString(),
      requestedAtMs: atMs,
    });
    await ledger.project();
    await goods.dispatch();
    const order = await ledger.orders.get("order-1");
    return `${order?.release} ${order?.releaseReason}`;
  };
  await ledger.expect({
    clickId: "click-1",
    currency: "USD",
    currencyAmount: "10",
  });
  const paidMs = startMs + 2 * minute;
  const backMs = startMs + 10 * minute;
  assert.equal(
    await read("success", paidMs, startMs + 3 * minute),
    "yes session_matched",
  );
  // By our clock this was read hours before, and says what has not happened yet.
  const hoursAgo = startMs - 180 * minute;
  assert.equal(await read("failed", backMs, hoursAgo), "wait final_changed");
  assert.equal(
    await read("failed", backMs, hoursAgo + minute),
    "wait final_changed",
  );
  assert.equal(
    await read("failed", backMs, backMs + minute),
    "no final_changed",
  );
  assert.deepEqual(told, [
    "order:order-1:release.yes",
    "order:order-1:release.wait reverses yes",
    "order:order-1:release.no reverses yes",
  ]);
});
