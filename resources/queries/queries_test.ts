import assert from "node:assert/strict";
import type { Ledger } from "../../ledger/mod.ts";
import {
  orderRead,
  session,
} from "../../ledger/testing/projection_test_kit.ts";
import { attentionPage, findJson } from "./find.ts";
import {
  deliveriesPage,
  deliveryDetail,
  transitionsAfter,
} from "./deliveries.ts";
import {
  BY_ORDER_ID,
  orderAsOf,
  orderDetail,
  orderExplanation,
  ordersPage,
  type Page,
  resolveOrder,
} from "./orders.ts";
import { readMonthBooks } from "../months/month_books.ts";
import { monthDetailJson } from "../views/month_view.ts";
import { closedMonths } from "./months.ts";
import { registerTarget } from "../../ledger/for_server.ts";
import { orderFacts } from "../views/order_view.ts";
import { serviceStatus } from "./service_status.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const NOW_MS = Date.parse("2026-11-20T12:00:00Z");

async function ledgerOf(
  orders: readonly Parameters<typeof orderRead>[1][],
): Promise<Ledger> {
  const ledger = await emptyLedger({
    now: () => NOW_MS,
  });
  await ledger.append(orders.map((order, index) => orderRead(index, order)));
  await ledger.project();
  return ledger;
}

/** All rows, read in pages of two. */
async function allPages<Row>(
  page: (cursor: string | undefined) => Promise<Page<Row>>,
): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const { items, next } = await page(cursor);
    assert.ok(items.length <= 2);
    rows.push(...items);
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return rows;
}

const named = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    orderId: `O${index}`,
    status: index % 2 === 0 ? "pending" : "success",
    click: index < 2 ? "SHARED" : `C${index}`,
  }));

Deno.test("ordersPage() gives every order once, page by page, with its filters", async () => {
  await using ledger = await ledgerOf(named(5));
  const of = (params: Parameters<typeof ordersPage>[1]) =>
    allPages((cursor) =>
      ordersPage(
        ledger,
        { ...params, limit: 2, ...(cursor === undefined ? {} : { cursor }) },
        NOW_MS,
      )
    );
  const ids = async (params: Parameters<typeof ordersPage>[1]) =>
    (await of(params)).map(({ orderId }) => orderId).sort();
  assert.deepEqual(await ids({}), ["O0", "O1", "O2", "O3", "O4"]);
  assert.deepEqual(await ids({ status: "pending" }), ["O0", "O2", "O4"]);
  assert.deepEqual(await ids({ click: "SHARED" }), ["O0", "O1"]);
  assert.deepEqual(await ids({ trust: "claimed" }), []);
});

Deno.test("resolveOrder() says whether a reference leads to one order, none or several", async () => {
  await using ledger = await ledgerOf(named(3));
  const one = await resolveOrder(ledger, "C2");
  assert.equal(one.found === "one" && one.order.orderId, "O2");
  assert.deepEqual(await resolveOrder(ledger, "NONE"), { found: "none" });
  assert.deepEqual(await resolveOrder(ledger, "SHARED"), {
    found: "several",
    orderIds: ["O0", "O1"],
    foundBy: { trust: "confirmed", alsoClaimed: [] },
  });
});

Deno.test("attentionPage() gives page by page what the ledger lists at once", async () => {
  const statuses = ["cancelled", "pending", "success", "pending", "cancelled"];
  await using ledger = await ledgerOf(
    statuses.map((status, index) => ({ orderId: `O${index}`, status })),
  );
  const all = await Array.fromAsync(ledger.attention());
  assert.equal(all.length, 5);
  for (
    const kind of [
      undefined,
      "refund_due",
      "stuck",
      "cancelled_after_payment",
    ] as const
  ) {
    const wanted = await Array.fromAsync(ledger.attention(kind));
    const rows = await allPages((cursor) =>
      attentionPage(
        ledger,
        {
          limit: 2,
          ...(kind === undefined ? {} : { kind }),
          ...(cursor === undefined ? {} : { cursor }),
        },
        NOW_MS,
      )
    );
    assert.deepEqual(
      rows.map(({ order }) => order.orderId),
      wanted.map(({ order }) => order.orderId),
    );
  }
});

Deno.test("attentionPage() refuses what is not its cursor", async () => {
  await using ledger = await ledgerOf([]);
  for (const cursor of ["nonsense", "WyJhIiwiYiJd"]) {
    await assert.rejects(
      attentionPage(ledger, { cursor }, NOW_MS),
      /Wrong cursor/,
    );
  }
});

Deno.test("deliveriesPage() gives every delivery once, newest first", async () => {
  await using ledger = await ledgerOf([]);
  for (let index = 0; index < 5; index++) {
    await ledger.appendDelivery({
      id: `01JD3Q5XK6T0V0QK3WZ5R5Q0Z${index}`,
      receivedAt: `2026-11-20T09:0${index}:00.000Z`,
      body: new TextEncoder().encode(
        index % 2 === 0 ? "no JSON" : '{"type":"test"}',
      ),
    });
  }
  const of = (quarantined: boolean) =>
    allPages((cursor) =>
      deliveriesPage(ledger, {
        quarantined,
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      })
    );
  assert.deepEqual(
    (await of(false)).map(({ id }) => id.at(-1)),
    ["4", "3", "2", "1", "0"],
  );
  assert.deepEqual((await of(true)).map(({ id }) => id.at(-1)), [
    "4",
    "2",
    "0",
  ]);
  await assert.rejects(deliveriesPage(ledger, { cursor: "-1" }), RangeError);
  const one = await deliveryDetail(ledger, "01JD3Q5XK6T0V0QK3WZ5R5Q0Z0");
  assert.equal(one?.text, "no JSON");
  assert.equal(await deliveryDetail(ledger, "none"), null);
});

Deno.test("transitionsAfter() goes on where it ended, and stays there at the end", async () => {
  await using ledger = await ledgerOf(named(3));
  const first = await transitionsAfter(ledger, { limit: 2 });
  assert.equal(first.items.length, 2);
  const rest = await transitionsAfter(ledger, { after: first.next });
  assert.deepEqual(
    [...first.items, ...rest.items].map(({ key }) => key),
    (await ledger.transitions()).map(({ key }) => key),
  );
  const end = await transitionsAfter(ledger, { after: rest.next });
  assert.deepEqual(end, { items: [], next: rest.next });
});

Deno.test("transitionsAfter() passes over what does not match, and none that does", async () => {
  await using ledger = await ledgerOf(named(6));
  const wanted = (await ledger.transitions())
    .filter(({ key }) => key.endsWith(":confirmed.success"));
  assert.equal(wanted.length, 3);
  const seen: string[] = [];
  for (let after = 0;;) {
    const read = await transitionsAfter(ledger, {
      after,
      on: ({ machine, status }) => machine === "order" && status === "success",
      limit: 2,
    });
    seen.push(...read.items.map(({ key }) => key));
    if (read.next === after) break;
    after = read.next;
  }
  assert.deepEqual(seen, wanted.map(({ key }) => key));
  const users = await transitionsAfter(ledger, { entity: "user" });
  const last = (await ledger.transitions()).at(-1)?.seq;
  assert.deepEqual(users, { items: [], next: last });
});

Deno.test("transitionsAfter() states what is decided of an order now beside what was logged", async () => {
  const read = (minute: number, status: string) =>
    orderRead(minute, {
      orderId: "O1",
      click: "C1",
      status,
      created: 1,
      tx: "0xT",
    });
  await using ledger = await ledgerOf([]);
  await ledger.append([
    session(0, "S1", "C1", "10", "basket-1"),
    read(5, "success"),
  ]);
  await ledger.project();
  const releases = async () => {
    const { items } = await transitionsAfter(ledger, {
      on: ({ machine }) => machine === "release",
    });
    return items.map(({ logged, release, releaseReason }) =>
      `${logged?.release}, now ${release} ${releaseReason}`
    );
  };
  assert.deepEqual(await releases(), ["yes, now yes session_matched"]);
  await ledger.append([read(9, "failed")]);
  await ledger.project();
  assert.deepEqual(await releases(), [
    "yes, now no final_changed",
    "no, now no final_changed",
  ]);
});

Deno.test("orderExplanation() and orderAsOf() give null for what is not known", async () => {
  await using ledger = await ledgerOf(named(1));
  const explanation = await orderExplanation(ledger, "O0", NOW_MS);
  assert.equal(explanation?.state.outcome.message.length !== 0, true);
  assert.equal(await orderExplanation(ledger, "NONE", NOW_MS), null);
  const then = await orderAsOf(ledger, "O0", "2026-11-20T08:00:00Z");
  assert.equal(then?.status, "pending");
  assert.equal(await orderAsOf(ledger, "O0", "2026-11-20T07:00:00Z"), null);
});

Deno.test("closedMonths() names a month's files and leaves their text out", async () => {
  await using ledger = await ledgerOf([]);
  assert.deepEqual(await Array.fromAsync(closedMonths(ledger)), []);
  await ledger.months.close("2026-10", {
    timeZone: "UTC",
    bookBy: "confirmed",
  });
  const [month] = await Array.fromAsync(closedMonths(ledger));
  assert.deepEqual(Object.keys(month?.files[0] ?? {}), ["name", "sha256"]);
  const books = await readMonthBooks(ledger, "2026-10");
  const { summary, kinds, currencies, ...rest } = monthDetailJson(books);
  assert.deepEqual(rest, month);
  assert.deepEqual([summary.month, kinds, currencies], ["2026-10", [], []]);
});

Deno.test("findJson() and serviceStatus() work on an empty ledger", async () => {
  await using ledger = await ledgerOf([]);
  assert.deepEqual(await findJson(ledger, "x", NOW_MS), {
    items: [],
    more: false,
    recorded: [],
  });
  const { ok, polling, delivery } = await serviceStatus(ledger, NOW_MS);
  assert.equal(ok, true);
  assert.equal(polling.polled, false);
  assert.equal(delivery.state, "never_received");
});

Deno.test("orderDetail() says whether each receiver was told of the order, what it answered, and when next", async () => {
  await using ledger = await emptyLedger();
  const url = "https://shop.example/hooks";
  const name = `forward:${url}`;
  await registerTarget(ledger.driver, name, url);
  let answer: string | null = "answered 500";
  const subscribed = (maxAttempts: number) =>
    ledger.subscribe(name, {
      on: "order.confirmed.*",
      from: "start",
      maxAttempts,
      retryDelayMs: () => 240_000,
    }, () => answer === null ? Promise.resolve() : Promise.reject(answer));
  const shop = await subscribed(5);
  await ledger.append([
    orderRead(30, { orderId: "O1", status: "success" }),
    orderRead(31, { orderId: "O2", status: "success" }),
  ]);
  await ledger.project();
  const shown = async (orderId: string) => {
    const order = await ledger.orders.get(orderId);
    assert.ok(order !== null);
    const found = { order, foundBy: BY_ORDER_ID };
    const detail = await orderDetail(ledger, found, Date.now());
    return {
      told: detail.told[0],
      text: orderFacts(detail, Date.now(), detail)
        .filter(({ name }) => name === "told").map(({ text }) => text).join(),
    };
  };
  await shop.dispatch();
  const failed = await shown("O1");
  assert.equal(failed.told?.state, "retrying");
  assert.equal(failed.told?.answer, "answered 500");
  assert.match(
    failed.text,
    /^shop\.example answered 500 to confirmed\.success, again in 4 min \(1 attempt\)$/,
  );
  answer = null;
  await ledger.subscriptions.hasten(name);
  await shop.dispatch();
  await shop.stop();
  assert.equal(
    (await shown("O1")).text,
    "shop.example was told, last confirmed.success",
  );
});
