import { orderSnapshot } from "../../ledger/testing/mod.ts";
import assert from "node:assert/strict";
import {
  evolveOrder,
  initialOrderFold,
  orderState,
  readFact,
} from "../../ledger/for_sync.ts";
import type { OrderState } from "../../ledger/mod.ts";
import { DailyTotals, orderExport } from "./order_export.ts";

/** The state that one reading of the service leads to. */
function order(fields: Record<string, unknown>): OrderState {
  const source = JSON.stringify(fields);
  const event = orderSnapshot({
    // Amounts are numbers on the wire; written as text here to keep digits.
    source: source.replace(/"#([\d.]+)"/g, "$1"),
    readAt: "2026-11-20T10:00:00.000Z",
    recordedAt: "2026-11-20T10:00:00.000Z",
    salt: new Uint8Array(16),
  });
  const fact = readFact({ ...event, position: 1 });
  return orderState(
    evolveOrder(initialOrderFold(String(fields.order_id)), fact),
  );
}

const orders = [
  order({
    order_id: "a",
    status: "success",
    currency: "usd",
    currency_amount: "#0.1",
    crypto: "eth.simple.ethereum",
    crypto_amount: "#0.100000000000000001",
    partner_fee: "#0.01",
    service_fee: "#0.02",
    created_at: "2026-11-19 23:59:59",
    changed_at: "2026-11-20 00:10:00",
    tx_id: `0x${"1".repeat(64)}`,
  }),
  order({
    order_id: "b",
    status: "success",
    currency: "usd",
    currency_amount: "#0.2",
    crypto: "eth.simple.ethereum",
    crypto_amount: "#0.200000000000000002",
    created_at: "2026-11-19 10:00:00",
    changed_at: "2026-11-19 10:10:00",
    click_id: "=HYPERLINK(1)",
    tx_id: `0x${"2".repeat(64)}`,
  }),
];

async function written(options: {
  format: "csv" | "ndjson";
  totals: boolean;
}): Promise<string> {
  const parts = orderExport(all(), { ...options, nowMs: 0 });
  return (await Array.fromAsync(parts)).join("");
}

async function* all(): AsyncGenerator<OrderState> {
  yield* orders;
}

Deno.test("orderExport() writes amounts digit for digit", async () => {
  const csv = await written({ format: "csv", totals: false });
  const [head, first] = csv.split("\r\n");
  const at = head?.split(",").indexOf("crypto_amount") ?? -1;
  // A spreadsheet would drop the last digits of a number that long.
  assert.equal(first?.split(",")[at], "'0.100000000000000001");
});

Deno.test("orderExport() adds up days in exact decimals", async () => {
  const text = await written({ format: "ndjson", totals: true });
  assert.deepEqual(JSON.parse(text), {
    day: "2026-11-19",
    status: "success",
    commodity: "ETH",
    network: "ethereum",
    currency: "USD",
    orders: "2",
    currency_amount: "0.3",
    crypto_amount: "0.300000000000000003",
    partner_fee_usd: "0.01",
    service_fee_usd: "0.02",
    trust: "confirmed",
    currency_amount_missing: "0",
    crypto_amount_missing: "0",
    partner_fee_missing: "1",
    service_fee_missing: "1",
  });
});

Deno.test("orderExport() keeps claimed orders out of the totals of confirmed ones", () => {
  const [first] = orders;
  assert.ok(first !== undefined);
  const totals = new DailyTotals();
  totals.add(first);
  totals.add({ ...first, trust: "claimed" });
  assert.deepEqual(
    totals.rows().map(({ trust, orders }) => [trust, orders]),
    [["claimed", "1"], ["confirmed", "1"]],
  );
});

Deno.test("DailyTotals counts an order whose forged amount cannot be added up", () => {
  const [first] = orders;
  assert.ok(first !== undefined);
  const totals = new DailyTotals();
  totals.add(first);
  for (const cryptoAmount of ["1E+999999999", "1e-999999999", "lots", ""]) {
    totals.add({ ...first, cryptoAmount });
  }
  assert.deepEqual(
    totals.rows().map(({ orders, crypto_amount }) => [orders, crypto_amount]),
    [["5", "0.100000000000000001"]],
  );
});

Deno.test("DailyTotals leaves a fee empty that no order states, and says how many", () => {
  const [, second] = orders;
  assert.ok(second !== undefined);
  const totals = new DailyTotals();
  totals.add(second);
  assert.deepEqual(
    totals.rows().map(({ partner_fee_usd, partner_fee_missing }) => [
      partner_fee_usd,
      partner_fee_missing,
    ]),
    [["", "1"]],
  );
});

Deno.test("orderExport() gives spreadsheets no formula to run", async () => {
  const csv = await written({ format: "csv", totals: false });
  assert.match(csv, /,'=HYPERLINK\(1\),/);
});
