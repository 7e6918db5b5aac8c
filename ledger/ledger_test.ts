import assert from "node:assert/strict";
import { FOLD_VERSION } from "./projection/fold_version.ts";
import type { Fact } from "./events/fact.ts";
import type { Ledger } from "./ledger.ts";
import { ledgerOn } from "./ledger_on.ts";
import { openLedger } from "./open_ledger.ts";
import { openDriver } from "./thread/open_driver.ts";
import { project } from "./projection/project.ts";
import {
  at,
  foldVersion,
  orderRead,
  orderWebhook,
  rowsOf,
  session,
  webhook,
} from "./testing/projection_test_kit.ts";
import { LedgerError } from "./store/database.ts";
import { temporaryFolder } from "../tests/kit/temporary_folder.ts";

function open(): Promise<Ledger> {
  return openLedger({
    url: ":memory:",
    environment: "sandbox",
    now: () => Date.parse(at(60)),
  });
}

const complete = {
  type: "order_complete",
  orderId: "O1",
  click: "C1",
  session: "S1",
  user: "U1",
};

Deno.test("openLedger() stamps a new ledger and refuses another environment", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  const url = `file:${folder}/ledger.db`;
  await assert.rejects(openLedger({ url, worker: false }), TypeError);
  await (await openLedger({
    url,
    defaultEnvironment: "sandbox",
    worker: false,
  })).close();
  await assert.rejects(
    openLedger({ url, environment: "production", worker: false }),
    (error) =>
      error instanceof LedgerError && error.code === "wrong_environment",
  );
  const again = await openLedger({
    url,
    defaultEnvironment: "production",
    worker: false,
  });
  assert.equal(again.environment, "sandbox");
  await again.close();
});

Deno.test("openLedger() refuses a file that is no database, and leaves nothing open", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  await Deno.writeTextFile(
    `${folder}/notes.txt`,
    "not a database ".repeat(99),
  );
  await assert.rejects(
    openLedger({
      url: `file:${folder}/notes.txt`,
      environment: "sandbox",
      worker: false,
    }),
    (error) => error instanceof LedgerError && error.code === "not_a_database",
  );
});

Deno.test("Ledger.project() folds deliveries, sessions and missed answers", async () => {
  await using ledger = await open();
  const { appendDelivery, recordSession, recordUnanswered } = ledger;
  const event = orderWebhook("W1", 1, complete);
  await recordSession({
    session_id: "S1",
    flow_type: "simple",
    currency: "USD",
    currency_amount: "12",
    reference: "basket 7",
    click_id: "C1",
  });
  await appendDelivery({ id: "W1", receivedAt: at(1), body: event.body });
  await appendDelivery({ id: "W1", receivedAt: at(1), body: event.body });
  await appendDelivery({
    id: "W2",
    receivedAt: at(2),
    body: new Uint8Array([255]),
  });
  await recordUnanswered({ id: "W1", noticedAt: at(3), answer: "late" });
  assert.equal(await ledger.lag(), 4);
  // The repeated delivery has left a gap.
  const { chain: chained, ...projection } = await ledger.project();
  assert.deepEqual(projection, { position: 5, events: 4, stopped: null });
  assert.deepEqual([chained.events, chained.broken], [4, null]);
  const order = await ledger.orders.get("O1");
  assert.equal(order?.expected, null, "a webhook chooses nothing");
  assert.equal(order?.outcome, "not_read_yet");
  const { chain, ...stats } = await ledger.stats();
  assert.deepEqual(stats, {
    events: {
      webhook: 2,
      order_snapshot: 0,
      user_snapshot: 0,
      order_absent: 0,
      order_contradicted: 0,
      session_created: 1,
      order_expected: 0,
      delivery_unanswered: 1,
      order_redacted: 0,
      order_released: 0,
      chain_reading: 0,
      witness_required: 0,
      month_closed: 0,
      note: 0,
      person_erased: 0,
    },
    quarantined: 1,
    orders: 1,
    users: 1,
    position: 5,
    lag: 0,
    waiting: null,
  });
  assert.equal(chain.count, 4);
  const found = await ledger.verify({
    expect: { count: chain.count, hash: chain.hash },
  });
  assert.equal(found.ok, true);
  await ledger.probe();
});

Deno.test("Ledger.append() mints salts that differ", async () => {
  await using ledger = await open();
  for (let n = 0; n < 600; n++) {
    await ledger.appendDelivery({
      id: `W${n}`,
      receivedAt: at(1),
      body: new Uint8Array(),
    });
  }
  const salts = await rowsOf(
    ledger.driver,
    "SELECT DISTINCT hex(salt) FROM events",
  );
  assert.equal(salts.length, 600);
  assert.ok(salts.every(([salt]) => (salt as string).length === 32));
});

Deno.test("Ledger.explain() and asOf() tell what changed an order and what was known when", async () => {
  await using ledger = await open();
  await ledger.append([
    session(0, "S1", "C1"),
    orderWebhook("W1", 1, complete),
    orderRead(2, { orderId: "O1", status: "pending", changed: 2 }),
    orderRead(4, { orderId: "O1", status: "failed", changed: 4 }),
    orderWebhook("W2", 5, complete),
  ]);
  await ledger.project();
  const explanation = await ledger.explain("O1");
  assert.deepEqual(
    explanation?.events.map(({ position, effect }) => [position, effect]),
    [
      [2, "changed"],
      [3, "changed"],
      [4, "changed"],
      [5, "unchanged"],
    ],
  );
  assert.deepEqual(
    explanation?.state,
    withoutActivity(await ledger.orders.get("O1")),
  );
  const seen = async (minute: number) => {
    const state = await ledger.asOf("O1", at(minute));
    return state && `${state.trust} ${state.status}`;
  };
  assert.equal(await seen(0), null);
  assert.equal(await seen(1), "claimed success");
  assert.equal(await seen(3), "claimed success");
  assert.equal(await seen(4), "confirmed failed");
  assert.equal(await ledger.explain("nobody"), null);
  assert.equal(await ledger.asOf("nobody", at(1)), null);
  await assert.rejects(ledger.asOf("O1", "yesterday"), RangeError);
});

function withoutActivity<State extends object>(
  view: State & { activity: unknown; context?: unknown } | null,
): unknown {
  if (view === null) return null;
  const { activity: _activity, context: _context, ...state } = view;
  return state;
}

Deno.test("Ledger.occurrences() tells a retry from a second login, by order and by user", async () => {
  await using ledger = await open();
  const login = { type: "login", click_id: "", user: { user_id: "U1" } };
  await ledger.append([
    webhook("L1", 0, login),
    webhook("L2", 5, login),
    webhook("L3", 33, login),
    webhook("other", 5, { ...login, user: { user_id: "U2" } }),
    orderWebhook("W1", 0, complete),
    orderWebhook("W2", 5, complete),
  ]);
  await ledger.recordUnanswered({ id: "L1", noticedAt: at(1), answer: "503" });
  await ledger.project();
  const kinds = async (id: string) =>
    (await ledger.occurrences(id)).map((one) => [one.eventId, one.as]);
  assert.deepEqual(await kinds("L3"), [
    ["L1", "occurrence"],
    ["L2", "retry"],
    ["L3", "occurrence"],
  ]);
  assert.deepEqual(await kinds("W1"), [
    ["W1", "occurrence"],
    ["W2", "possibleRepeat"],
  ]);
  assert.deepEqual(await kinds("nobody"), []);
});

Deno.test("Ledger.subscribe() is told of what project() folds, and close() stops it", async () => {
  const ledger = await open();
  const keys: string[] = [];
  let told = () => {};
  const once = new Promise<void>((resolve) => told = resolve);
  await ledger.subscribe("test", {
    on: "order.confirmed.success",
    idleMs: 3_600_000,
  }, ({ key }) => {
    keys.push(key);
    told();
  });
  await assert.rejects(
    // @ts-expect-error no pattern
    ledger.subscribe("wrong", { on: "everything" }, () => {}),
    TypeError,
  );
  await ledger.append([orderRead(1, { orderId: "O1", status: "success" })]);
  await ledger.project();
  await once;
  const [status] = await ledger.subscriptions.list();
  assert.equal(status?.name, "test");
  const transitions = await ledger.transitions({ id: "O1" });
  assert.deepEqual(transitions.map(({ key }) => key), [
    ...keys,
    "order:O1:release.wait",
  ]);
  assert.deepEqual(
    await ledger.transitions({ after: transitions[1]?.seq ?? 0 }),
    [],
  );
  assert.deepEqual(await ledger.transitions({ entity: "user" }), []);
  await ledger.close();
});

Deno.test("Ledger.project() folds a ledger of an older version again, and stops at one of a newer", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  const url = `file:${folder}/ledger.db`;
  const kinder = foldVersion(
    FOLD_VERSION + 1,
    (fact: Fact) =>
      fact.kind === "order_snapshot"
        ? { ...fact, reading: { ...fact.reading, status: "success" } }
        : fact,
  );
  const older = await openLedger({
    url,
    environment: "sandbox",
    worker: false,
  });
  await using newer = await ledgerOn(
    await openDriver({ url, worker: false }),
    { environment: "sandbox", fold: kinder },
  );
  await older.append([orderRead(1, { orderId: "O1", status: "pending" })]);
  await older.project();
  const { chain: _, ...projection } = await newer.project();
  assert.deepEqual(projection, { position: 1, events: 1, stopped: null });
  assert.equal((await older.orders.get("O1"))?.status, "success");
  await older.append([orderRead(2, { orderId: "O2", status: "pending" })]);
  const { chain, ...left } = await older.project();
  assert.deepEqual(left, { position: 1, events: 0, stopped: "newer_fold" });
  // It goes on appending; what folds it seals it.
  assert.equal(chain.events, 1);
  await older.close();
  assert.equal((await newer.project()).position, 2);
  assert.deepEqual(
    (await newer.subscriptions.unfired()).map(({ key }) => key),
    ["order:O1:confirmed.success"],
  );
  const again = await newer.refold();
  assert.deepEqual([again.changed, again.events, again.swapped], [
    0,
    2,
    true,
  ]);
});

Deno.test("a step seals each event in the batch that folds it", async () => {
  await using ledger = await open();
  const { driver } = ledger;
  await ledger.append(Array.from(
    { length: 3_000 },
    (_, number) => orderRead(1, { orderId: `O${number}`, status: "success" }),
  ));
  for (let steps = 1; steps <= 6; steps++) {
    await project(driver, { assets: "sandbox", maxEvents: 500 });
    const [result] = await driver.batch([{
      sql: `SELECT (SELECT max(last_position) FROM seals),
        (SELECT count(*) FROM orders), position FROM ledger`,
      args: [],
    }], "read");
    const reached = 500 * steps;
    assert.deepEqual(result?.rows[0], [reached, reached, reached]);
  }
  assert.equal((await ledger.verify()).ok, true);
});

Deno.test("Ledger.export() and import() carry a ledger into another", async () => {
  await using from = await open();
  await using to = await open();
  await from.append([orderRead(1, { orderId: "O1", status: "success" })]);
  assert.deepEqual(await to.import(from.export()), { imported: 1, skipped: 0 });
  await to.project();
  assert.equal((await to.orders.get("O1"))?.status, "success");
});

Deno.test("Ledger.backup() copies a ledger in use, and the copy verifies", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  const copied = `${folder}/a copy #1.db`;
  await using ledger = await openLedger({
    url: `file:${folder}/ledger.db`,
    environment: "sandbox",
    worker: false,
  });
  await ledger.append([orderRead(1, { orderId: "O1", status: "success" })]);
  await ledger.project();
  const head = await ledger.chain();
  const appended = ledger.append([
    orderRead(2, { orderId: "O2", status: "success" }),
  ]);
  await ledger.backup(copied);
  await appended;
  await using copy = await openLedger({
    url: `file:${encodeURI(copied)}`,
    worker: false,
  });
  const found = await copy.verify({ expect: { count: 1, hash: head.hash } });
  assert.equal(found.ok, true);
  assert.equal((await copy.orders.get("O1"))?.status, "success");
  await assert.rejects(ledger.backup(copied), /the file exists/);
  await assert.rejects(ledger.backup(`${folder}/no/where.db`), LedgerError);
});

Deno.test("Ledger.project() stops when told to, and close() waits for it", async () => {
  const ledger = await open();
  await ledger.append([orderRead(1, { orderId: "O1", status: "success" })]);
  await assert.rejects(
    ledger.project({ signal: AbortSignal.abort(new Error("enough")) }),
    /enough/,
  );
  const projected = ledger.project();
  await ledger.close();
  assert.equal((await projected).events, 1);
  await assert.rejects(ledger.project(), LedgerError);
});
