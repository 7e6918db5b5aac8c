import assert from "node:assert/strict";
import { OUTCOME_TABLE } from "../../ledger/for_resources.ts";
import { ODD_NOW_MS, oddLedger } from "../../tests/kit/odd_ledger.ts";
import {
  orderOfRow,
  outcomeEvents,
  WITHOUT_ORDER,
} from "../../tests/kit/outcome_orders.ts";
import { OUTCOME_WORDS } from "../wording/outcome.ts";
import { RELEASE_REASON } from "../wording/release.ts";
import { orderJson, orderLines } from "./order_view.ts";

Deno.test("orderLines() of an order of each row says what it has come to, whether to release it, and what to do", async () => {
  await using ledger = await oddLedger(outcomeEvents());
  for (const row of OUTCOME_TABLE) {
    const { code } = row;
    if (WITHOUT_ORDER.has(code)) continue;
    const order = await ledger.orders.get(orderOfRow(code));
    assert.ok(order !== null, code);
    const json = orderJson(order, ODD_NOW_MS);
    assert.equal(json.outcome.code, code);
    assert.equal(json.release, row.release, code);
    assert.equal(json.releaseReason, row.reason, code);
    assert.equal(json.booked, row.booked, code);
    if (row.attention === null) assert.deepEqual(json.attention, [], code);
    else assert.ok(json.attention.includes(row.attention), code);
    const text = orderLines(order, null, ODD_NOW_MS).join("\n");
    if (Deno.env.get("RAMPKIT_PRINT_ORDERS") === "1") console.log(`${text}\n`);
    assert.ok(text.startsWith(OUTCOME_WORDS[code].headline(order)), code);
    assert.ok(text.includes(RELEASE_REASON[row.reason]), code);
    assert.ok(text.includes(OUTCOME_WORDS[code].next), code);
    assert.doesNotMatch(text, /undefined|null|: $/m, code);
  }
});
