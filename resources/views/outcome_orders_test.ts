import assert from "node:assert/strict";
import { OUTCOME_TABLE, type OutcomeCode } from "../../ledger/for_resources.ts";
import {
  ODD_NOW_MS,
  oddLedger,
  oddWebhook,
} from "../../tests/kit/odd_ledger.ts";
import { orderOfRow, outcomeEvents } from "../../tests/kit/outcome_orders.ts";
import { OUTCOME_WORDS } from "../wording/outcome.ts";
import { RELEASE_REASON } from "../wording/release.ts";
import { orderJson, orderLines } from "./order_view.ts";

Deno.test("orderLines() of an order of each row says what it has come to, whether to release it, and what to do", async () => {
  await using ledger = await oddLedger(outcomeEvents());
  for (const row of OUTCOME_TABLE) {
    const { code } = row;
    const order = await ledger.orders.get(orderOfRow(code));
    assert.ok(order !== null, code);
    const json = orderJson(order, ODD_NOW_MS);
    assert.equal(json.outcome.code, code);
    assert.equal(json.release, row.release, code);
    assert.equal(json.releaseReason, row.reason, code);
    assert.equal(json.booked, row.booked, code);
    if (row.attention === null) assert.deepEqual(json.attention, [], code);
    else assert.ok(json.attention.includes(row.attention), code);
    const text = orderLines(json, null, ODD_NOW_MS).join("\n");
    if (Deno.env.get("RAMPKIT_PRINT_ORDERS") === "1") console.log(`${text}\n`);
    assert.ok(text.startsWith(OUTCOME_WORDS[code].headline(order)), code);
    assert.ok(text.includes(RELEASE_REASON[row.reason]), code);
    const { next, nextOf } = OUTCOME_WORDS[code];
    assert.ok(text.includes(nextOf?.(order) ?? next), code);
    assert.doesNotMatch(text, /undefined|null|: $/m, code);
  }
});

Deno.test("orderJson() of an order that has ended says the same whatever webhooks say", async () => {
  const isFinal = ({ confirmed }: Awaited<ReturnType<typeof shown>>) =>
    ["success", "failed", "cancelled"].includes(confirmed?.status ?? "");
  await using ledger = await oddLedger(outcomeEvents());
  const shown = async (code: OutcomeCode) => {
    const order = await ledger.orders.get(orderOfRow(code));
    assert.ok(order !== null, code);
    const json = orderJson(order, ODD_NOW_MS);
    const { outcome, release, releaseReason, attention, booked } = json;
    const said = { outcome, release, releaseReason, attention, booked };
    return { said, confirmed: json.confirmed };
  };
  const before = new Map<OutcomeCode, Awaited<ReturnType<typeof shown>>>();
  for (const { code } of OUTCOME_TABLE) {
    before.set(code, await shown(code));
  }
  const ended = [...before].filter(([, one]) => isFinal(one));
  assert.ok(ended.length > 15, `${ended.length}`);
  await ledger.append(ended.flatMap(([code]) => {
    const id = orderOfRow(code);
    const forged = { quote_amount: "1", address: "0xF0" };
    return [
      oddWebhook(id, "order_complete", 3, {
        ...forged,
        transaction_id: `0x${"1".repeat(64)}`,
      }),
      oddWebhook(id, "order_failed", 2, { ...forged, error_code: "4016" }),
      oddWebhook(id, "order_cancelled", 1, forged),
    ];
  }));
  await ledger.project();
  for (const [code, { said }] of ended) {
    assert.deepEqual((await shown(code)).said, said, code);
  }
});
