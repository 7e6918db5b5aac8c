import assert from "node:assert/strict";
import { eraseBody } from "../testing/erase_body.ts";
import { readdirSync, readFileSync } from "node:fs";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { until } from "../../tests/kit/until.ts";
import type { Ledger } from "../ledger.ts";
import type { NewEvent } from "../events/event.ts";
import { orderExpected, userSnapshot, webhookEvent } from "../testing/mint.ts";
import { at, orderRead } from "../testing/projection_test_kit.ts";
import { ledgerOn } from "../ledger_on.ts";
import { openLedger } from "../open_ledger.ts";
import { type Driver, LedgerError } from "../store/database.ts";
import { openDriver } from "../thread/open_driver.ts";
import {
  assertFollows,
  emptyLedger,
  inTables,
} from "../testing/empty_ledger.ts";
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

Deno.test("Erasures.erase() leaves no byte of the person in file, log and backup, and everything of others", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using ledger = await openLedger({
      url: `file:${folder}/ledger.db`,
      environment: "sandbox",
      worker: false,
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
  await using ledger = await emptyLedger();
  const isLast = ({ body }: NewEvent) =>
    new TextDecoder().decode(body).includes('"status":"success"');
  await ledger.append(
    anna.events.filter((event) =>
      event.kind !== "order_snapshot" || !isLast(event)
    ),
  );
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

Deno.test("Erasures.erase() takes what was expected of a person's orders under every click id", async () => {
  await using ledger = await emptyLedger();
  const expected = (id: string, click_id: string, body: object) =>
    orderExpected({
      expected: { expectation_id: id, click_id, ...body },
      recordedAt: "2026-11-20T09:00:00.000Z",
      salt: new Uint8Array(16),
    });
  const [session] = anna.events.filter(({ kind }) =>
    kind === "session_created"
  );
  const { click_id, reference, wallet_address } = JSON.parse(
    new TextDecoder().decode(session?.body),
  );
  await ledger.append([
    ...anna.events,
    ...berta.events,
    expected("E1", click_id, { reference, wallet_address }),
    expected("E2", "click-of-nobody", { reference, wallet_address }),
    expected("E3", "click-of-another", { user_id: anna.userId }),
    expected("E4", "click-of-others", { reference: "another", network: "x" }),
  ]);
  await ledger.project();
  await ledger.erasures.erase(anna.userId, { force: true });
  assert.deepEqual(await inTables(ledger.driver, anna), []);
  await assertFollows(ledger);
  const [kept] = await ledger.driver.batch([{
    sql: `SELECT count(*) FROM events
      WHERE kind = 'order_expected' AND instr(body, CAST('"erased"' AS BLOB)) = 0`,
    args: [],
  }], "read");
  assert.deepEqual(kept?.rows.map(([count]) => count), [1]);
  assert.notEqual((await inTables(ledger.driver, berta)).length, 0);
});

/** A forged webhook that says that an order is Anna's. */
function forged(orderId: string): NewEvent {
  return webhookEvent({
    id: `F-${orderId}`,
    receivedAt: "2026-11-21T10:00:00.000Z",
    body: new TextEncoder().encode(JSON.stringify({
      type: "order_complete",
      user: { user_id: anna.userId },
      click_id: "click-of-the-forger",
      order: { id: orderId, quote: "USD", quote_amount: "1" },
    })),
  }, new Uint8Array(16));
}

Deno.test("Erasures.erase() waits until the service was asked for orders that only webhooks name as the person's", async () => {
  await using ledger = await emptyLedger();
  await filled(ledger);
  await ledger.append([forged("O-INVENTED"), forged("not, an id")]);
  await ledger.project();
  const { orders, claims } = await ledger.erasures.plan(anna.userId);
  assert.deepEqual(orders.map(({ orderId }) => orderId), anna.orderIds);
  assert.deepEqual(claims, [
    { orderId: "O-INVENTED", isAsked: false },
    { orderId: "not, an id", isAsked: true },
  ]);
  await assert.rejects(
    ledger.erasures.erase(anna.userId),
    /service was asked for orders that only webhooks name .*: O-INVENTED$/,
  );
  assert.ok((await inTables(ledger.driver, anna)).length > 0);
  await ledger.driver.batch([{
    sql: `INSERT INTO observations
            (entity, id, asked_at, read_at, digest, found)
          VALUES ('order', 'O-INVENTED', '2026-11-22T00:00:00.000Z',
            '2026-11-22T00:00:00.000Z', '', 0)`,
    args: [],
  }], "write");
  await ledger.erasures.erase(anna.userId);
  assert.deepEqual(await inTables(ledger.driver, anna), []);
});

Deno.test("Erasures.erase() leaves an order of somebody else whole, also when it is forced before the service has shown it", async () => {
  const berta = person("BERTA", 1);
  const [orderId = ""] = berta.orderIds;
  const whole = async (erases: boolean) => {
    await using ledger = await emptyLedger();
    await ledger.append(anna.events);
    await ledger.append([forged(orderId)]);
    await ledger.project();
    if (erases) await ledger.erasures.erase(anna.userId, { force: true });
    await ledger.append(berta.events);
    await ledger.project();
    const found = await ledger.orders.get(orderId);
    assert.ok(found !== null);
    const { claimed: _, activity: __, anomalies: ___, ...order } = found;
    assert.equal((await ledger.verify()).ok, true);
    return order;
  };
  const after = await whole(true);
  assert.equal(after.userId, berta.userId);
  assert.deepEqual(after, await whole(false));
});

Deno.test("a closed month recomputes without a difference after an erasure, and other months are closed alike", async () => {
  const now = () => Date.parse("2026-12-02T08:00:00Z");
  const terms = { timeZone: "Europe/Berlin", bookBy: "confirmed" } as const;
  await using ledger = await emptyLedger({ now });
  await using whole = await emptyLedger({ now });
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
  await using late = await emptyLedger({ now });
  await filled(late);
  await late.erasures.erase(anna.userId);
  const rows = async (one: Ledger) =>
    (await one.months.close("2026-11", terms)).closed?.files[1]?.text;
  assert.equal(await rows(late), await rows(whole));
});

Deno.test("what arrives of an erased person later is redacted before it is folded", async () => {
  await using ledger = await emptyLedger();
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

for (const worker of [true, false]) {
  Deno.test(`what arrives of an erased person later leaves no byte in file and log, ${worker ? "in a thread" : "without one"}`, async () => {
    await using folder = await temporaryFolder();
    await using ledger = await openLedger({
      url: `file:${folder.path}/ledger.db`,
      environment: "sandbox",
      worker,
    });
    await filled(ledger);
    await ledger.erasures.erase(anna.userId);
    await ledger.erasures.clean();
    await ledger.append(anna.events);
    assert.ok(found(folder.path, anna).length > 10, "it came");
    await ledger.project();
    assert.deepEqual(found(folder.path, anna), []);
    assert.notDeepEqual(found(folder.path, berta), []);
  });
}

Deno.test("what names nothing but an erased click id is redacted when it arrives, whatever its type", async () => {
  await using ledger = await emptyLedger();
  await filled(ledger);
  await ledger.erasures.erase(anna.userId);
  const types = ["login", "registration", "logout", "card_added", "new_thing"];
  for (const [n, type] of types.entries()) {
    await ledger.appendDelivery({
      id: `01KA000000000000000000000${n}`,
      receivedAt: "2026-11-21T09:00:00.000Z",
      body: new TextEncoder().encode(JSON.stringify({
        type,
        click_id: "click0-ANNA-SECRET",
        phone: "phone-ANNA-SECRET",
      })),
    });
  }
  assert.ok((await inTables(ledger.driver, anna)).length > 0);
  await ledger.project();
  assert.deepEqual(await inTables(ledger.driver, anna), []);
  assert.equal((await ledger.verify()).ok, true);
});

Deno.test("Erasures.erase() finds a person whatever the case of the ids, and recognises them so later", async () => {
  await using ledger = await emptyLedger();
  await filled(ledger);
  const deliver = async (n: number, body: object) => {
    await ledger.appendDelivery({
      id: `01KA000000000000000000000${n}`,
      receivedAt: `2026-11-2${n}T09:00:00.000Z`,
      body: new TextEncoder().encode(JSON.stringify(body)),
    });
    await ledger.project();
  };
  const odd = { type: "login", user_id: "USER-anna-Secret", ip: "1.2.3.4" };
  const clicked = {
    type: "thing",
    click_id: "CLICK0-anna-Secret",
    ip: "9.9.9.9",
  };
  await deliver(1, odd);
  await deliver(2, clicked);
  const { events } = await ledger.erasures.erase("user-ANNA-secret");
  assert.equal(events.webhook, 9);
  assert.deepEqual(await inTables(ledger.driver, anna), []);
  await deliver(3, odd);
  await deliver(4, clicked);
  const told = {
    values: ["USER-anna-Secret", "CLICK0-anna-Secret", "9.9.9.9"],
  };
  assert.deepEqual(await inTables(ledger.driver, { ...anna, ...told }), []);
  assert.notEqual(await ledger.erasures.find(anna.userId), null);
  assert.notEqual(await ledger.erasures.find("USER-anna-Secret"), null);
  assert.equal(await ledger.users.get("USER-anna-Secret"), null);
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.refold()).changed, 0);
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
    await using ledger = await emptyLedger();
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
  for (const order of ["O-BERTA-0", "O-ANNA-1"]) {
    await using ledger = await emptyLedger();
    await filled(ledger);
    await ledger.erasures.erase(anna.userId);
    await ledger.chain();
    assert.equal((await ledger.verify()).ok, true);
    await ledger.driver.batch([{
      sql: `UPDATE events SET
          body = CAST(replace(CAST(body AS TEXT), 'O-ANNA-0', ?) AS BLOB)
        WHERE instr(body, CAST('O-ANNA-0' AS BLOB)) > 0 AND kind = 'webhook'`,
      args: [order],
    }], "write");
    const { ok, reason } = await ledger.verify();
    assert.deepEqual([ok, reason?.code], [false, "erased_event_altered"]);
  }
});

Deno.test("an export tells who was erased, so that an import keeps them out", async () => {
  await using from = await emptyLedger();
  await filled(from);
  await from.erasures.erase(anna.userId);
  const lines = await Array.fromAsync(from.export());
  assert.ok(lines.every((line) => !line.includes("-ANNA-SECRET")));
  await using to = await emptyLedger();
  async function* given() {
    yield* lines;
  }
  await to.import(given());
  await to.project();
  const but = (all: string[]) => all.filter((one) => !one.includes('"key"'));
  assert.deepEqual(but(await Array.fromAsync(to.export())), but(lines));
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
  await using from = await emptyLedger();
  await filled(from);
  await from.erasures.prune("2030-01-01T00:00:00.000Z");
  const lines = await Array.fromAsync(from.export());
  await using to = await emptyLedger();
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

Deno.test("what follows an erasure is behind what a reader of the feed has read", async () => {
  await using ledger = await emptyLedger({
    now: () => Date.parse("2026-11-20T12:00:00Z"),
  });
  await ledger.append([
    userSnapshot({
      source: JSON.stringify({ user_id: "U1", lkyc_status: "success" }),
      ...{ readAt: at(5), recordedAt: at(5), salt: new Uint8Array(16) },
    }),
  ]);
  await ledger.project();
  const read = (await ledger.transitions()).at(-1) ?? assert.fail();
  await ledger.erasures.erase("U1");
  await ledger.append([orderRead(8, { orderId: "O2", status: "created" })]);
  await ledger.project();
  assert.equal((await ledger.transitions({ after: read.seq })).length, 1);
});
