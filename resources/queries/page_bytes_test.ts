import assert from "node:assert/strict";
import { ulid } from "ulid";
import type { Ledger } from "../../ledger/mod.ts";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import { attentionPage } from "./find.ts";
import { deliveriesPage, transitionsAfter } from "./deliveries.ts";
import { leftOutText } from "../views/explanation_view.ts";
import { orderExplanation, ordersPage, type Page } from "./orders.ts";
import { usersPage } from "./users.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const mostBytes = 4_000_000;
const startMs = Date.parse("2026-11-20T12:00:00Z");
const count = 900;

/** A text as long as an identifier may be, of which JSON makes six times that. */
function longest(at: number, name: string): string {
  return `${name}${at}-`.padEnd(256, "\u0001");
}

/** A ledger of orders and users whose every text is as long as may be. */
async function hostileLedger(): Promise<Ledger> {
  const ledger = await emptyLedger({
    now: () => startMs,
  });
  const encoder = new TextEncoder();
  for (let at = 0; at < count; at++) {
    const text = (name: string) => longest(at, name);
    const order = {
      id: text("order"),
      external_order_id: text("external"),
      base: text("base"),
      base_amount: text("amount"),
      quote: text("quote"),
      quote_amount: text("amount"),
      address: text("address"),
      transaction_id: text("transaction"),
      partner_data: { sc_address: text("sc"), sc_input_data: text("input") },
      error_code: text("error"),
    };
    const state = { state: text("state") };
    await ledger.appendDelivery({
      id: ulid(startMs),
      receivedAt: new Date(startMs + at).toISOString(),
      body: encoder.encode(JSON.stringify({
        type: at % 2 === 0 ? "order_complete" : "order_failed",
        click_id: text("click"),
        hpp_session_id: text("session"),
        order,
        user: {
          user_id: text("user"),
          verification_status: { lkyc: state, fkyc: state },
        },
      })),
    });
  }
  await ledger.project();
  return ledger;
}

/** Reads all pages, and holds that none is too long. */
async function walk<Row>(
  page: (cursor: string | undefined) => Promise<Page<Row>>,
): Promise<number> {
  let rows = 0;
  let cursor: string | undefined;
  do {
    const read = await page(cursor);
    assert.ok(read.items.length > 0 || read.next === null);
    const bytes = new TextEncoder().encode(JSON.stringify(read)).length;
    assert.ok(bytes <= mostBytes, `${bytes} bytes`);
    rows += read.items.length;
    cursor = read.next ?? undefined;
  } while (cursor !== undefined);
  return rows;
}

Deno.test("pages are at most 4 MB long, whatever strangers send, and none is lost between them", async () => {
  await using ledger = await hostileLedger();
  const params = (cursor: string | undefined) => ({
    limit: 1000,
    ...(cursor === undefined ? {} : { cursor }),
  });
  const nowMs = startMs + 5 * 3_600_000;
  const orders = await walk((cursor) =>
    ordersPage(ledger, params(cursor), nowMs)
  );
  const users = await walk((cursor) => usersPage(ledger, params(cursor)));
  const deliveries = await walk((cursor) =>
    deliveriesPage(ledger, params(cursor))
  );
  assert.deepEqual([orders, users, deliveries], [count, count, count]);
  let transitions = 0;
  for (let after = 0;;) {
    const read = await transitionsAfter(ledger, { after, limit: 1000 });
    if (read.items.length === 0) break;
    const bytes = new TextEncoder().encode(JSON.stringify(read)).length;
    assert.ok(bytes <= mostBytes, `${bytes} bytes`);
    transitions += read.items.length;
    after = read.next;
  }
  assert.ok(transitions >= count);
});

Deno.test("attentionPage() is at most 4 MB long, and loses nothing between two", async () => {
  await using ledger = await emptyLedger({
    now: () => startMs,
  });
  const statuses = ["cancelled", "pending", "success"];
  await ledger.append(Array.from({ length: count }, (_, at) =>
    orderRead(1, {
      orderId: longest(at, "order"),
      status: statuses[at % statuses.length] ?? "",
      user: longest(at, "user"),
      click: longest(at, "click"),
      external: longest(at, "external"),
      tx: at % 3 === 2 ? "" : "x".repeat(3000),
    })));
  await ledger.project();
  const rows = await walk((cursor) =>
    attentionPage(
      ledger,
      { limit: 1000, ...(cursor === undefined ? {} : { cursor }) },
      startMs,
    )
  );
  assert.equal(rows, count);
});

Deno.test("an explanation is at most 4 MB long, however many webhooks name the order, and what the service shows is in it", async () => {
  await using ledger = await emptyLedger({
    now: () => startMs,
  });
  const encoder = new TextEncoder();
  const most = 2_000;
  for (let at = 0; at < most + 100; at++) {
    const text = (name: string) => longest(at, name);
    await ledger.appendDelivery({
      id: ulid(startMs),
      receivedAt: new Date(startMs + at).toISOString(),
      body: encoder.encode(JSON.stringify({
        type: at % 2 === 0 ? "order_complete" : "order_failed",
        click_id: text("click"),
        hpp_session_id: text("session"),
        order: {
          id: "ORDER",
          external_order_id: text("external"),
          base: text("base"),
          quote: text("quote"),
          address: text("address"),
          transaction_id: text("transaction"),
          error_code: text("error"),
        },
        user: { user_id: text("user") },
      })),
    });
  }
  await ledger.append([orderRead(1, { orderId: "ORDER", status: "success" })]);
  await ledger.project();
  const explained = await orderExplanation(ledger, "ORDER", startMs);
  assert.ok(explained !== null);
  const { length } = encoder.encode(JSON.stringify(explained));
  assert.ok(length <= mostBytes, `${length} bytes`);
  assert.equal(explained.events.length + explained.leftOut, most + 101);
  assert.equal(explained.events.at(-1)?.kind, "order_snapshot");
  assert.equal(explained.state.status, "success");
  assert.equal(explained.state.trust, "confirmed");
  const { leftOut } = explained;
  assert.ok(leftOut > 100);
  assert.match(leftOutText(leftOut), /^\d+ more events are not listed/);
});
