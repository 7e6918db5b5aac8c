import assert from "node:assert/strict";
import { orderReleased } from "../testing/mint.ts";
import { readFact } from "../events/read_fact.ts";
import {
  at,
  expectation,
  orderRead,
  orderWebhook,
} from "../testing/projection_test_kit.ts";
import type { Ledger } from "../ledger.ts";
import { openLedger } from "../open_ledger.ts";
import { MOST_WEBHOOKS, readOrderFacts } from "./explain.ts";

const newLedger = () =>
  openLedger({
    url: ":memory:",
    environment: "sandbox",
    now: () => Date.parse(at(60)),
  });

const salt = new Uint8Array(16);

const paid = (minute: number, orderId: string, click = "C1") =>
  orderRead(minute, {
    orderId,
    status: "success",
    click,
    tx: "0xT",
    created: 2,
    changed: 3,
  });

const delivered = (minute: number, orderId: string, reference: string) =>
  orderReleased({
    released: {
      order_id: orderId,
      outcome: "delivered",
      by: "Ada",
      why: "paid at the counter",
      for: reference,
    },
    recordedAt: at(minute),
    salt,
  });

/** What `asOf()` and `explain()` say of an order at a minute. */
async function saidAt(ledger: Ledger, orderId: string, minute: number) {
  const time = at(minute);
  const said = (
    state:
      | {
        readonly release: string;
        readonly releaseReason: string;
        readonly byHand: { readonly outcome: string } | null;
      }
      | null
      | undefined,
  ) =>
    state
      ? `${state.release} ${state.releaseReason} ${
        state.byHand?.outcome ?? "-"
      }`
      : null;
  const asOf = said(await ledger.asOf(orderId, time));
  assert.equal(said((await ledger.explain(orderId, time))?.state), asOf);
  return asOf;
}

Deno.test("Ledger.asOf() and explain() go by the expectations, the persons and the other orders of then", async () => {
  await using ledger = await newLedger();
  await ledger.append([
    paid(5, "O1"),
    expectation("E1", 10, {
      click: "C1",
      reference: "basket-1",
      amount: "10",
      askedAt: 1,
    }),
    paid(20, "O2"),
    delivered(30, "O2", "basket-1"),
  ]);
  await ledger.project();
  assert.equal(await saidAt(ledger, "O1", 4), null);
  assert.equal(await saidAt(ledger, "O1", 9), "unchecked nothing_recorded -");
  assert.equal(await saidAt(ledger, "O1", 29), "yes session_matched -");
  assert.equal(await saidAt(ledger, "O2", 29), "wait paid_twice -");
  assert.equal(await saidAt(ledger, "O1", 31), "wait paid_twice -");
  assert.match(await saidAt(ledger, "O2", 31) ?? "", / delivered$/);
  const compares = async (minute: number) =>
    (await ledger.asOf("O1", at(minute)))?.context?.compares;
  assert.deepEqual([await compares(9), await compares(10)], [false, true]);
  // Now is what was known last.
  const { release, releaseReason, byHand } = await ledger.orders.get("O1") ??
    assert.fail();
  const now = (await ledger.explain("O1"))?.state;
  assert.deepEqual(
    [now?.release, now?.releaseReason, now?.byHand],
    [release, releaseReason, byHand],
  );
});

Deno.test("Ledger.asOf() tells what was known of the status then", async () => {
  await using ledger = await newLedger();
  await ledger.append([
    expectation("E1", 0, { click: "C1", reference: "basket-1", amount: "10" }),
    orderWebhook("W1", 1, { type: "payment_started", orderId: "O1" }),
    orderRead(5, { orderId: "O1", status: "success", changed: 4 }),
  ]);
  await ledger.project();
  const known = async (minute: number) => {
    const { status, trust } = await ledger.asOf("O1", at(minute)) ?? {};
    return `${status} ${trust}`;
  };
  assert.equal(await known(0), "undefined undefined");
  assert.equal(await known(1), "progress claimed");
  assert.equal(await known(4.9), "progress claimed");
  assert.equal(await known(5), "success confirmed");
});

Deno.test("readOrderFacts() reads so many webhooks of an order and no more, and everything that is no webhook", async () => {
  await using ledger = await newLedger();
  const order = { orderId: "O1", status: "success" };
  const sent = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) =>
      orderWebhook(`W${from + n}`, 1, {
        type: "order_complete",
        orderId: "O1",
      }));
  const kinds = async () => {
    const { facts, unread } = await readOrderFacts(
      ledger.driver,
      "O1",
      readFact,
    );
    const readings = facts.filter(({ kind }) => kind === "order_snapshot");
    return {
      webhooks: facts.length - readings.length,
      readings: readings.length,
      last: facts.at(-1)?.kind,
      unread,
    };
  };
  const append = async (events: Parameters<Ledger["append"]>[0]) => {
    await ledger.append(events);
    await ledger.project();
  };
  await append([...sent(0, 120), orderRead(2, order)]);
  assert.deepEqual(await kinds(), {
    webhooks: 120,
    readings: 1,
    last: "order_snapshot",
    unread: 0,
  });
  const leftOut = async (minute?: number) =>
    (await ledger.explain("O1", minute === undefined ? minute : at(minute)))
      ?.leftOut;
  await append([
    ...sent(120, MOST_WEBHOOKS - 20),
    orderRead(3, { ...order, status: "failed" }),
    ...sent(MOST_WEBHOOKS + 100, 7),
    orderRead(4, order),
  ]);
  const { webhooks, ...read } = await kinds();
  // It stops at the end of the step in which the last one is reached.
  assert.ok(webhooks >= MOST_WEBHOOKS && webhooks < MOST_WEBHOOKS + 50);
  assert.deepEqual(read, {
    readings: 3,
    last: "order_snapshot",
    unread: MOST_WEBHOOKS + 107 - webhooks,
  });
  assert.equal(await leftOut(0.5), undefined);
  assert.equal(await leftOut(1), await leftOut());
});
