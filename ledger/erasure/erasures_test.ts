import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { until } from "../../tests/kit/until.ts";
import { eraseBody } from "../evidence/erase.ts";
import { Recorder } from "../polling/recording/recorder.ts";
import type { Ledger } from "../ledger.ts";
import { ledgerOn } from "../ledger_on.ts";
import { openLedger } from "../open_ledger.ts";
import type { Driver } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { openDriver } from "../store/driver/open_driver.ts";
import { memoryLedger } from "../testing/erasure_test_kit.ts";
import { databaseKinds } from "../testing/test_databases.ts";
import { type Person, person } from "../testing/person_events.ts";

const anna = person("ANNA");
const berta = person("BERTA");

async function filled(ledger: Ledger): Promise<void> {
  const both = [...anna.events, ...berta.events]
    .sort((a, b) => a.recordedAt < b.recordedAt ? -1 : 1);
  await ledger.append(both);
  await ledger.project();
}

/** Values of a person in any file of a folder. */
function found(folder: string, { values }: Person): string[] {
  return readdirSync(folder).flatMap((name) => {
    const bytes = readFileSync(`${folder}/${name}`);
    return values.filter((value) => bytes.includes(value))
      .map((value) => `${name}: ${value}`);
  });
}

/** Every row of every table, as text: values of a person in them. */
async function inTables(driver: Driver, { values }: Person): Promise<string[]> {
  const [tables] = await driver.batch([{
    sql: "SELECT name FROM sqlite_schema WHERE type = 'table'",
    args: [],
  }], "read");
  const all: string[] = [];
  for (const [table] of tables?.rows ?? []) {
    const [rows] = await driver.batch([{
      sql: `SELECT * FROM "${table}"`,
      args: [],
    }], "read");
    const text = rows?.rows.map((row) =>
      row.map((value) =>
        value instanceof Uint8Array ? new TextDecoder().decode(value) : value
      ).join(" ")
    ).join("\n") ?? "";
    for (const value of values) {
      if (text.includes(value)) {
        all.push(`${table}: ${value}`);
      }
    }
  }
  return all;
}

Deno.test("Erasures.erase() leaves no byte of the person in file, log and backup, and everything of others", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using ledger = await openLedger({
      url: `file:${folder}/ledger.db`,
      environment: "sandbox",
    });
    await filled(ledger);
    const head = await ledger.chain();
    const before = await ledger.orders.get(anna.orderIds[0] ?? "");
    const others = await ledger.explain(berta.orderIds[0] ?? "");
    assert.ok(
      found(folder, anna).length > 10,
      "the search finds what is there",
    );
    const { pseudonym, events, orders, fields } = await ledger.erasures.erase(
      anna.userId,
    );
    assert.deepEqual(events, {
      webhook: 7,
      user_snapshot: 1,
      order_snapshot: 4,
      session_created: 2,
    });
    assert.deepEqual(orders.map(({ orderId }) => orderId), anna.orderIds);
    assert.ok(fields.includes("phone") && fields.includes("order.address"));
    for (const kept of ["crypto_amount", "type", "order.quote_amount"]) {
      assert.ok(!fields.includes(kept), `${kept} stays`);
    }
    await ledger.erasures.clean();
    assert.deepEqual(found(folder, anna), []);
    await ledger.backup(`${folder}/backup.db`);
    await ledger.project();
    assert.deepEqual(found(folder, anna), []);
    const after = await ledger.orders.get(anna.orderIds[0] ?? "");
    assert.equal(after?.userId, pseudonym);
    assert.deepEqual(
      [after?.status, after?.trust, after?.currencyAmount, after?.fees],
      [before?.status, before?.trust, before?.currencyAmount, before?.fees],
    );
    assert.deepEqual(await ledger.explain(berta.orderIds[0] ?? ""), others);
    assert.equal(await ledger.users.get(anna.userId), null);
    assert.notEqual(await ledger.users.get(berta.userId), null);
    const verified = await ledger.verify({
      expect: { count: head.events, hash: head.hash },
    });
    assert.deepEqual([verified.ok, verified.erased], [true, 14]);
    assert.deepEqual((await ledger.erasures.list()).map((one) => one.orders), [
      2,
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("Erasures.erase() refuses while an order is under way or a refund is due, unless forced", async () => {
  await using ledger = await memoryLedger();
  const waiting = anna.events.filter(({ kind }) => kind !== "order_snapshot");
  await ledger.append(waiting);
  await ledger.project();
  const [plan] = (await ledger.erasures.plan(anna.userId)).orders;
  assert.deepEqual(plan?.blocks, ["under_way"]);
  await assert.rejects(
    ledger.erasures.erase(anna.userId),
    /under way or a refund is due: O-ANNA-0 \(under_way\), O-ANNA-1/,
  );
  assert.ok((await inTables(ledger.driver, anna)).length > 0);
  await ledger.erasures.erase(anna.userId, { force: true });
  assert.deepEqual(await inTables(ledger.driver, anna), []);
  assert.equal((await ledger.orders.get("O-ANNA-0"))?.status, "success");
});

Deno.test("a closed month recomputes without a difference after an erasure, and other months are closed alike", async () => {
  const now = () => Date.parse("2026-12-02T08:00:00Z");
  const terms = { timeZone: "Europe/Berlin", bookBy: "confirmed" } as const;
  await using ledger = await memoryLedger(now);
  await using whole = await memoryLedger(now);
  await filled(ledger);
  await filled(whole);
  await ledger.months.close("2026-11", terms);
  await ledger.erasures.erase(anna.userId);
  await ledger.project();
  const again = await ledger.months.recompute("2026-11");
  assert.deepEqual(
    [again?.differences, again?.erased, again?.changes],
    [[], [], []],
  );
  await using late = await memoryLedger(now);
  await filled(late);
  await late.erasures.erase(anna.userId);
  const rows = async (one: Ledger) =>
    (await one.months.close("2026-11", terms)).closed?.files[1]?.text;
  assert.equal(await rows(late), await rows(whole));
});

Deno.test("what arrives of an erased person later is redacted before it is folded", async () => {
  await using ledger = await memoryLedger();
  await filled(ledger);
  await ledger.erasures.erase(anna.userId);
  const before = await ledger.orders.get("O-ANNA-0");
  const later = anna.events.filter(({ kind }) => kind === "webhook").map((
    event,
  ) => ({ ...event, eventId: `${event.eventId}-again` }));
  await ledger.append(later);
  // What another ledger had of the person.
  await ledger.append(anna.events);
  assert.ok((await inTables(ledger.driver, anna)).length > 0);
  await ledger.project();
  assert.deepEqual(await inTables(ledger.driver, anna), []);
  const after = await ledger.orders.get("O-ANNA-0");
  assert.deepEqual(
    [after?.status, after?.userId, after?.currencyAmount],
    [before?.status, before?.userId, before?.currencyAmount],
  );
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.refold()).changed, 0);
});

Deno.test("record() keeps of an erased order only what is redacted, and nothing of its user", async () => {
  await using ledger = await memoryLedger();
  const { driver } = ledger;
  const recorder = new Recorder({
    driver,
    lease: null,
    now: Date.now,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  });
  const answer = (source: Record<string, unknown>) => ({
    sources: [JSON.stringify(source)],
    states: [{ status: String(source.status ?? ""), changedAt: null }],
    missing: [],
    readAt: new Date().toISOString(),
    requestedAtMs: Date.now(),
  });
  const utf8 = new TextDecoder();
  const read = anna.events.filter(({ kind }) => kind === "order_snapshot")
    .map(({ body }) => JSON.parse(utf8.decode(body)));
  const order = read[1];
  const user = JSON.parse(
    utf8.decode(anna.events.find(({ kind }) => kind === "user_snapshot")?.body),
  );
  await ledger.append(anna.events.filter(({ kind }) => kind === "webhook"));
  await recorder.record("order", answer(order));
  await recorder.record("user", answer(user));
  await ledger.project();
  await ledger.erasures.erase(anna.userId, { force: true });
  const quiet = await recorder.record("order", answer(order));
  assert.equal(quiet.appended, 0, "the same answer is no news");
  const cancelled = { ...order, status: "cancelled" };
  assert.equal((await recorder.record("order", answer(cancelled))).appended, 1);
  assert.equal((await recorder.record("user", answer(user))).appended, 0);
  await ledger.project();
  assert.deepEqual(await inTables(driver, anna), []);
  const { anomalies, status } = await ledger.orders.get("O-ANNA-0") ?? {};
  assert.equal(status, "cancelled");
  assert.ok(anomalies?.some(({ kind }) => kind === "final_changed"));

  // An old order that the ledger did not know is erased as well.
  const old = {
    ...order,
    order_id: "O-OLD",
    created_at: "2020-01-01 00:00:00",
  };
  await recorder.record("order", answer(old));
  await ledger.project();
  await recorder.record("order", answer(old));
  await ledger.project();
  assert.deepEqual(await inTables(driver, anna), []);
  assert.equal((await ledger.orders.get("O-OLD"))?.status, "success");

  // An order that was created later is new business.
  const soon = new Date(Date.now() + 60_000).toISOString();
  const fresh = { ...order, order_id: "O-NEW", created_at: soon };
  await recorder.record("order", answer(fresh));
  await ledger.project();
  await recorder.record("user", answer(user));
  await ledger.project();
  assert.equal((await ledger.orders.get("O-NEW"))?.userId, anna.userId);
  assert.notEqual(await ledger.users.get(anna.userId), null);
  const returned = await ledger.erasures.returned();
  assert.deepEqual(returned.map(({ orderId }) => orderId), ["O-NEW"]);

  // And can be erased again.
  await ledger.erasures.erase(anna.userId, { force: true });
  assert.deepEqual(await inTables(driver, anna), []);
  assert.equal((await ledger.verify()).ok, true);
});

Deno.test("Erasures.erase() is all or nothing, whichever write fails", async () => {
  let writes = Infinity;
  for (let failing = 1; failing <= writes; failing++) {
    const inner = await openDriver({ url: ":memory:", worker: false });
    let armed = false;
    let count = 0;
    const driver: Driver = {
      location: inner.location,
      close: () => inner.close(),
      batch: async (statements, mode) => {
        const writing = armed && mode === "write" &&
          statements.some(({ sql }) => !/^\s*SELECT/.test(sql));
        if (writing && ++count === failing) {
          // The batch is committed, and its answer is lost, every other time.
          if (failing % 2 === 0) await inner.batch(statements, mode);
          throw new LedgerError("unreachable", "the write failed");
        }
        return await inner.batch(statements, mode);
      },
    };
    await using ledger = await ledgerOn(driver, { environment: "sandbox" });
    await filled(ledger);
    armed = true;
    const erasing = async () => {
      await ledger.erasures.erase(anna.userId);
      await ledger.append(anna.events.map((event) => ({
        ...event,
        eventId: event.kind === "webhook"
          ? `${event.eventId}-again`
          : event.eventId,
      })));
      await ledger.project();
    };
    await erasing().catch(erasing);
    if (writes === Infinity && count < failing) writes = count;
    armed = false;
    await ledger.project();
    assert.deepEqual(await inTables(inner, anna), [], `write ${failing}`);
    const verified = await ledger.verify();
    assert.equal(
      verified.ok,
      true,
      `write ${failing}: ${verified.reason?.code}`,
    );
    assert.equal((await ledger.refold()).changed, 0, `write ${failing}`);
  }
});

Deno.test("Erasures.erase() leaves a chain that verifies where bodies had been erased before", async () => {
  for (const kind of ["webhook", "order_snapshot", "session_created"]) {
    await using ledger = await memoryLedger();
    await filled(ledger);
    await ledger.chain();
    const [rows] = await ledger.driver.batch([{
      sql: "SELECT position FROM events WHERE kind = ? ORDER BY position",
      args: [kind],
    }], "read");
    for (const [position] of rows?.rows ?? []) {
      assert.equal(await eraseBody(ledger.driver, Number(position)), true);
    }
    await ledger.erasures.erase(anna.userId, { force: true });
    await ledger.project();
    const { ok, reason, unchained } = await ledger.verify();
    assert.deepEqual({ ok, reason, unchained }, {
      ok: true,
      reason: null,
      unchained: 0,
    }, kind);
    assert.deepEqual(await inTables(ledger.driver, anna), [], kind);
  }
});

Deno.test("verify() finds an erased event that was given to another order", async () => {
  for (const order of ["'O-BERTA-0'", "NULL"]) {
    await using ledger = await memoryLedger();
    await filled(ledger);
    await ledger.erasures.erase(anna.userId);
    await ledger.chain();
    assert.equal((await ledger.verify()).ok, true);
    await ledger.driver.batch([{
      sql: `UPDATE events SET order_id = ${order}
        WHERE order_id = 'O-ANNA-0' AND kind = 'webhook' AND body IS NULL`,
      args: [],
    }], "write");
    const { ok, reason } = await ledger.verify();
    assert.deepEqual([ok, reason?.code], [false, "erased_event_altered"]);
  }
});

Deno.test("an export tells who was erased, so that an import keeps them out", async () => {
  await using from = await memoryLedger();
  await filled(from);
  await from.erasures.erase(anna.userId);
  const lines = await Array.fromAsync(from.export());
  assert.ok(lines.every((line) => !line.includes("-ANNA-SECRET")));
  await using to = await memoryLedger();
  async function* given() {
    yield* lines;
  }
  await to.import(given());
  await to.project();
  assert.deepEqual(await Array.fromAsync(to.export()), lines);
  for (const orderId of [...anna.orderIds, ...berta.orderIds]) {
    assert.deepEqual(
      await to.orders.get(orderId),
      await from.orders.get(orderId),
    );
  }
  await to.append(anna.events);
  await to.project();
  assert.deepEqual(await inTables(to.driver, anna), []);
  assert.deepEqual(await to.erasures.list(), await from.erasures.list());
  assert.equal((await to.verify()).ok, true);
});

Deno.test("what another ledger had pruned of an erased person is redacted when it is imported", async () => {
  await using from = await memoryLedger();
  await filled(from);
  await from.erasures.prune("2030-01-01T00:00:00.000Z");
  const lines = await Array.fromAsync(from.export());
  await using to = await memoryLedger();
  await to.append(anna.events.slice(0, 6));
  await to.project();
  await to.erasures.erase(anna.userId, { force: true });
  async function* given() {
    yield* lines;
  }
  await to.import(given());
  await to.project();
  assert.deepEqual(await inTables(to.driver, anna), []);
  for (const orderId of anna.orderIds) {
    const { status, release } = await to.orders.get(orderId) ?? {};
    const was = await from.orders.get(orderId);
    assert.deepEqual([status, release], [was?.status, was?.release]);
  }
  const { ok, reason } = await to.verify();
  assert.equal(ok, true, reason?.code ?? "");
  assert.equal((await to.refold()).changed, 0);
});

Deno.test("Erasures.erase() beside a process that is folding leaves nothing of the person", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const url = `file:${folder}/ledger.db`;
    const options = { url, environment: "sandbox" } as const;
    await using folding = await openLedger(options);
    await using erasing = await openLedger(options);
    const crowd = Array.from({ length: 150 }, (_, n) => person(`N${n}`, 1));
    const [first = [], ...rest] = [anna, ...crowd].map(({ events }) => events);
    await folding.append(first.slice(0, 6));
    await folding.project();
    await folding.append([...rest.flat(), ...first]);
    const folded = folding.project();
    await erasing.erasures.erase(anna.userId, { force: true });
    await folded;
    await folding.project();
    assert.deepEqual(await inTables(folding.driver, anna), []);
    assert.equal((await erasing.verify()).ok, true);
    assert.equal((await erasing.refold()).changed, 0);
    assert.equal((await erasing.orders.get("O-ANNA-0"))?.status, "success");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const replica = databaseKinds.find(({ name }) => name === "sqld replica");

Deno.test({
  name: "Erasures.erase() does the same on a server, read through its replica",
  ignore: replica?.available !== true,
  fn: async () => {
    await using database = await replica?.create();
    assert.ok(database !== undefined);
    const driver = await database.open();
    const ledger = await ledgerOn(driver, { environment: "sandbox" });
    await filled(ledger);
    await until(async () => {
      await ledger.project();
      return await ledger.orders.get("O-ANNA-1") !== null;
    });
    await ledger.erasures.erase(anna.userId);
    await ledger.append(anna.events);
    await until(async () => {
      await ledger.project();
      return (await inTables(driver, anna)).length === 0;
    });
    assert.equal((await ledger.verify()).ok, true);
    assert.equal(await ledger.erasures.clean(), false);
    await ledger.erasures.prune("2030-01-01T00:00:00.000Z");
    await until(async () =>
      (await ledger.orders.get("O-BERTA-0"))?.address === null
    );
    assert.equal((await ledger.refold()).changed, 0);
  },
});
