import assert from "node:assert/strict";
import type { OrderStep } from "../../sandbox/mod.ts";
import type { Ledger } from "../../ledger/mod.ts";
import {
  deliver,
  ledgerFor,
  moving,
  pollOnce,
  type Service,
  service,
  startMs,
} from "../testing/polling_test_kit.ts";
import {
  reconcile,
  type ReconcileOptions,
  type ReconcileReport,
} from "./reconcile.ts";
import { RECONCILE_CATEGORIES, RECONCILE_FLAGS } from "./reconcile_order.ts";

const day = 24 * 3_600_000;
const hour = 3_600_000;

function compare(
  { clock, client }: Service,
  ledger: Ledger,
  changes: Partial<ReconcileOptions> = {},
): Promise<ReconcileReport> {
  return moving(
    reconcile({
      ledger,
      client,
      now: () => clock.now(),
      assets: "sandbox",
      ...changes,
    }),
    clock,
  );
}

Deno.test("reconcile() finds that a polled ledger and the service agree", async () => {
  await using box = service();
  box.sandbox.backfill({
    orders: 60,
    fromMs: startMs - 90 * day,
    untilMs: startMs - day,
  });
  await using ledger = await ledgerFor(box);
  await pollOnce(box, ledger);
  const report = await compare(box, ledger, { all: true });
  assert.equal(report.orders, 60);
  assert.equal(report.disagreements, 0);
  assert.equal(report.counts.agree, 60);
  assert.deepEqual([report.complete, report.why], [true, null]);
  assert.equal(report.rows.length, 60);
  const before = (await ledger.stats()).events;
  await compare(box, ledger);
  assert.deepEqual((await ledger.stats()).events, before);
});

Deno.test("reconcile() produces every category and every flag", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const { sandbox, clock } = box;
  const make = async (
    steps: readonly OrderStep[],
    webhooks: readonly string[],
  ) => {
    const { orderId } = sandbox.createOrder();
    for (const step of steps) sandbox.advance(orderId, step);
    for (const type of webhooks) await deliver(box, ledger, type, orderId);
    return orderId;
  };
  const names = new Map<string, string>();
  const name = async (as: string, id: Promise<string>) => {
    names.set(await id, as);
    return await id;
  };
  await name("agree", make(["pay", "complete"], ["order_complete"]));
  await name("missed_webhook", make(["pay", "complete"], []));
  await name("stuck", make(["pay", "authorise"], ["payment_started"]));
  await name("forged", make(["pay"], ["payment_started", "order_complete"]));
  const claimed = await name("claimed_only", make([], []));
  const behind = await name("behind", make(["pay"], ["payment_started"]));
  const cancelled = await name(
    "cancelled",
    make(["pay", "authorise", "cancel"], ["order_cancelled"]),
  );
  const refund = await name(
    "refund_due",
    make(["pay", "fail"], ["order_failed"]),
  );
  sandbox.amendOrder(refund, { failReason: "4016" });
  const mismatch = await name(
    "amount_mismatch",
    make(["pay", "fail"], ["order_failed"]),
  );
  sandbox.amendOrder(mismatch, { failReason: "4017" });
  const empty = await name(
    "success_without_transaction",
    make(["pay", "complete"], ["order_complete"]),
  );
  sandbox.amendOrder(empty, { txId: "" });
  const sent = await name(
    "sent_without_success",
    make(["pay", "fail"], ["order_failed"]),
  );
  sandbox.amendOrder(sent, { txId: `0x${"1".repeat(64)}` });
  const unclear = await name(
    "contradictory_reading",
    make(["pay", "complete"], ["order_complete"]),
  );
  sandbox.amendOrder(unclear, { failReason: "4017" });
  const other = await name(
    "not_as_requested",
    make(["pay", "complete"], ["order_complete"]),
  );
  await ledger.recordSession({
    session_id: "S-OTHER",
    flow_type: "simple",
    click_id: sandbox.order(other)?.clickId ?? "",
    currency: "USD",
    currency_amount: "9999",
  });
  const taken = await name(
    "final_changed",
    make(["pay", "complete"], ["order_complete"]),
  );
  await deliver(box, ledger, "order_complete", "01JNOSUCHORDER000000000000");
  names.set("01JNOSUCHORDER000000000000", "absent");
  await pollOnce(box, ledger);
  await clock.advance(11 * 60_000);
  sandbox.advance(taken, "cancel");
  await pollOnce(box, ledger);
  await clock.advance(2 * hour);
  sandbox.advance(behind, "authorise");
  await deliver(box, ledger, "payment_started", claimed);
  await clock.advance(10 * 60_000);

  const report = await compare(box, ledger);
  const found = Object.fromEntries(report.rows.map((row) => [
    names.get(row.orderId),
    [row.category, row.disagrees, ...row.flags].join(" "),
  ]));
  assert.deepEqual(found, {
    missed_webhook: "agree false missed_webhook",
    stuck: "agree false stuck",
    forged: "contradicted false",
    claimed_only: "claimed_only true",
    behind: "behind true",
    cancelled: "agree false cancelled_after_payment",
    final_changed: "final_changed true sent_without_success " +
      "cancelled_after_payment missed_webhook",
    refund_due: "agree false refund_due",
    amount_mismatch: "agree false amount_mismatch",
    success_without_transaction: "agree false success_without_transaction",
    not_as_requested: "agree false not_as_requested",
    sent_without_success: "agree false sent_without_success",
    contradictory_reading: "agree false contradictory_reading",
    absent: "absent true",
  });
  assert.equal(report.disagreements, 4);
  for (const kind of [...RECONCILE_CATEGORIES, ...RECONCILE_FLAGS]) {
    assert.ok(report.counts[kind] > 0, kind);
  }
  const cancelledRow = report.rows.find((row) => row.orderId === cancelled);
  assert.equal(
    cancelledRow?.onChain.network,
    sandbox.order(cancelled)?.network,
  );
});

Deno.test("reconcile() keeps to its window, start outside and end inside", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  for (const ago of [4, 3, 2, 1]) {
    box.sandbox.createOrder({}, startMs - ago * hour);
  }
  const report = await compare(box, ledger, {
    fromMs: startMs - 3 * hour,
    toMs: startMs - hour,
  });
  assert.equal(report.orders, 2);
  assert.equal(report.disagreements, 2);
  assert.equal(report.counts.behind, 2);
  await assert.rejects(
    compare(box, ledger, { fromMs: startMs, toMs: startMs - hour }),
    RangeError,
  );
});

Deno.test("reconcile() compares what is too young for a proof as well", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  box.sandbox.createOrder();
  const report = await compare(box, ledger);
  assert.equal(report.orders, 1);
  assert.equal(report.disagreements, 1);
  assert.ok(report.provenUpTo < report.to);
});

Deno.test("reconcile() of nothing agrees", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const report = await compare(box, ledger);
  assert.deepEqual(
    [report.orders, report.disagreements, report.complete],
    [0, 0, true],
  );
  await deliver(box, ledger, "order_complete", "01JNOSUCHORDER000000000000");
  assert.equal((await compare(box, ledger)).counts.absent, 1);
});

Deno.test("reconcile() lists what is about money first, and missed webhooks last", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  const { sandbox, clock } = box;
  const names = new Map<string, string>();
  const make = (name: string, steps: readonly OrderStep[]) => {
    const { orderId } = sandbox.createOrder();
    for (const step of steps) sandbox.advance(orderId, step);
    names.set(orderId, name);
    return orderId;
  };
  make("missed 1", ["pay", "authorise", "complete"]);
  make("stuck", ["pay", "authorise"]);
  const refund = make("refund", ["pay", "fail"]);
  sandbox.amendOrder(refund, { failReason: "4016" });
  make("missed 2", ["pay", "authorise", "complete"]);
  await pollOnce(box, ledger);
  await clock.advance(2 * hour);
  make("behind", ["pay", "authorise"]);
  const report = await compare(box, ledger);
  assert.deepEqual(report.rows.map(({ orderId }) => names.get(orderId)), [
    "refund",
    "stuck",
    "behind",
    "missed 1",
    "missed 2",
  ]);
  assert.equal(Object.keys(report.counts)[0], "refund_due");
  assert.equal(Object.keys(report.counts).length, 15);
});

Deno.test("reconcile() compares every other order beside ids that the service refuses", async () => {
  await using box = service();
  const orders = [box.sandbox.createOrder(), box.sandbox.createOrder()];
  await using ledger = await ledgerFor(box);
  await pollOnce(box, ledger);
  const invented = ["../../etc/passwd", "01JINVENTED000000000000000"];
  for (const [at, id] of invented.entries()) {
    await ledger.appendDelivery({
      id: `01J000000000000000000000A${at}`,
      receivedAt: new Date(box.clock.now()).toISOString(),
      body: new TextEncoder().encode(
        JSON.stringify({ type: "order_complete", order: { id } }),
      ),
    });
  }
  await box.clock.advance(hour);
  box.refuse = (url) =>
    url.searchParams.get("search_by")?.includes("../")
      ? Response.json({ message: "forbidden" }, { status: 403 })
      : null;
  const report = await moving(
    reconcile({
      ledger,
      client: box.client,
      now: () => box.clock.now(),
      all: true,
    }),
    box.clock,
  );
  const category = (id?: string) =>
    report.rows.find(({ orderId }) => orderId === id)?.category;
  for (const { orderId } of orders) assert.equal(category(orderId), "agree");
  assert.equal(category(invented[1]), "absent");
  assert.equal(category(invented[0]), undefined);
  assert.equal(report.complete, false);
  assert.equal(report.why?.code, "order_refused");
  assert.match(JSON.stringify(report.why), /\.\.\/\.\.\/etc\/passwd/);
});

Deno.test("reconcile() fails where the service fails whatever it is asked", async () => {
  await using box = service();
  await using ledger = await ledgerFor(box);
  box.refuse = () => Response.json({ message: "forbidden" }, { status: 403 });
  await assert.rejects(
    moving(
      reconcile({ ledger, client: box.client, now: () => box.clock.now() }),
      box.clock,
    ),
    { name: "PermissionError" },
  );
});
