import assert from "node:assert/strict";
import type { NewEvent } from "../../ledger/mod.ts";
import {
  emptyLedger,
  orderAbsent,
  orderContradicted,
  orderSnapshot,
  sessionCreated,
  webhookEvent,
} from "../../ledger/testing/mod.ts";
import {
  type OrderJson,
  orderJson,
  orderLines,
  orderTable,
} from "./order_view.ts";

/** When the tests look. */
const NOW = Date.parse("2026-11-20T10:00:00Z");

const salt = new Uint8Array(16);
const times = {
  readAt: "2026-11-20T09:00:00.000Z",
  recordedAt: "2026-11-20T09:00:00.000Z",
};

/** The order O1 after events of it. */
async function orderOf(...events: NewEvent[]): Promise<OrderJson> {
  await using ledger = await emptyLedger();
  await ledger.append(events);
  await ledger.project();
  const order = await ledger.orders.get("O1");
  assert.ok(order !== null);
  return orderJson(order, NOW);
}

const forged = webhookEvent({
  id: "W1",
  receivedAt: "2026-11-20T08:59:00.000Z",
  body: new TextEncoder().encode(
    JSON.stringify({ type: "order_complete", order: { id: "O1" } }),
  ),
}, salt);
const absent = orderAbsent({ orderId: "O1", ...times, salt });
const contradicted = orderContradicted({
  orderId: "O1",
  status: "success",
  upTo: "2026-11-20T08:59:00.000Z",
  ...times,
  salt,
});

function read(amount: string): NewEvent {
  return orderSnapshot({
    source: `{"order_id":"O1","status":"success","click_id":"C1",` +
      `"tx_id":"0x${
        "1".repeat(64)
      }","currency":"usd","currency_amount":${amount},` +
      `"created_at":"2026-11-20 08:50:00","changed_at":"2026-11-20 08:55:00"}`,
    ...times,
    salt,
  });
}

const session = sessionCreated({
  session: {
    session_id: "S1",
    flow_type: "simple",
    click_id: "C1",
    reference: "basket-7",
    currency: "USD",
    currency_amount: "30",
  },
  recordedAt: "2026-11-20T08:45:00.000Z",
  salt,
});

Deno.test("orderLines() says no status that nobody says, and whether the service was asked", async () => {
  const claimed = orderLines(await orderOf(forged), null, NOW).join("\n");
  assert.match(claimed, /Status +success \(claimed\)/);
  assert.match(claimed, /has not been read yet/);
  const asked = orderLines(await orderOf(forged, absent), null, NOW).join("\n");
  assert.match(asked, /Status +success \(claimed\)/);
  assert.doesNotMatch(asked, /has not been read yet/);
  const order = await orderOf(forged, absent, contradicted);
  const refused = orderLines(order, null, NOW).join("\n");
  assert.match(refused, /Status +none: the service does not know the order/);
  assert.match(refused, /Release +wait/);
  assert.doesNotMatch(refused, /created|not been read yet/);
  assert.doesNotMatch(orderTable([order], null), /created|claimed/);
});

Deno.test("orderLines() says whether to release the goods, why, and what to do next", async () => {
  const paid = orderLines(await orderOf(session, read("30")), null, NOW).join(
    "\n",
  );
  assert.match(paid, /Release +yes/);
  assert.match(paid, /Next +Release what `expected\.reference` names/);
  assert.match(
    paid,
    /Your reference +basket-7\nAsked for +.*session S1 \(matched\)/,
  );
  const short = orderLines(await orderOf(session, read("3")), null, NOW).join(
    "\n",
  );
  assert.match(
    short,
    /^Paid 3\.00 of 30\.00 USD\. Success, but not what was asked for\.\n/,
  );
  assert.match(short, /Release +wait: .*the order is not what was asked for/);
  assert.match(short, /Next +Compare the order with what you asked for/);
  assert.match(short, /Waits for +not_as_requested/);
});
