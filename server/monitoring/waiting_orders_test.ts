import assert from "node:assert/strict";
import { emptyLedger } from "../../ledger/testing/mod.ts";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import { WaitingOrders } from "./waiting_orders.ts";

/** An order that ends after it was paid. */
function cancelled(minute: number, orderId: string) {
  return orderRead(minute, { orderId, status: "cancelled", changed: minute });
}

Deno.test("WaitingOrders.look() tells each order once, with its reference and what to do, counts what is beyond twenty, and says when one is settled", async () => {
  await using ledger = await emptyLedger();
  const lines: Record<string, unknown>[] = [];
  const waiting = new WaitingOrders({
    ledger,
    log: (level, event, fields) => void lines.push({ level, event, ...fields }),
    now: Date.now,
  });
  await waiting.look();
  await ledger.append([cancelled(0, "01A")]);
  await ledger.project();
  for (let i = 0; i < 2; i++) await waiting.look();
  const [line, ...others] = lines.splice(0);
  assert.deepEqual(others, []);
  assert.deepEqual([line?.level, line?.event, line?.orderId], [
    "warn",
    "order_waits",
    "01A",
  ]);
  assert.match(
    String(line?.message),
    /^Order 01A waits for a person: cancelled after the payment /,
  );
  assert.match(
    String(line?.advice),
    /^Ask the service whether the customer was charged/,
  );

  await ledger.release("01A", {
    ...{ outcome: "refunded", by: "ada", why: "The bank sent it back" },
  });
  await ledger.project();
  for (let looks = 0; looks < 30; looks++) await waiting.look();
  const ids = Array.from({ length: 25 }, (_, at) => `01B${at}`);
  await ledger.append(ids.map((id) => cancelled(1, id)));
  await ledger.project();
  await waiting.look();
  const told = lines.splice(0).map(({ event, message }) =>
    `${event} ${message}`
  );
  assert.equal(told.length, 21 + 1);
  assert.match(told[0] ?? "", /no_more Order 01A waits for a person no more/);
  assert.match(
    told.at(-1) ?? "",
    /order_waits 5 more orders wait for a person$/,
  );
});
