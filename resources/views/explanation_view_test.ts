import assert from "node:assert/strict";
import type { Explanation } from "../../ledger/mod.ts";
import { explainOrder } from "../../ledger/testing/mod.ts";
import {
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  TX,
} from "../../ledger/testing/given_facts.ts";
import { explanationJson, explanationLines } from "./explanation_view.ts";

const explained = explainOrder(
  ORDER,
  facts(
    orderWebhook(1, "payment_started", { transaction_id: TX }),
    orderRead(3, "success", 3, { tx_id: TX }),
    orderRead(4, "cancelled", 4, { tx_id: TX }),
    orderWebhook(9, "order_complete", { transaction_id: TX }),
  ),
);

function text(explanation: Explanation, verbose: boolean): string {
  const nowMs = Date.parse("2026-11-20T02:00:00Z");
  return explanationLines(explanationJson(explanation, nowMs, null), {
    columns: null,
    nowMs,
    verbose,
  }).join("\n");
}

Deno.test("explanationLines() begins with the outcome, and shows the moves of status and release", () => {
  const short = text(explained, false);
  assert.match(
    short,
    /^Cancelled: the service showed success before, and took it back\./,
  );
  assert.match(short, /\n {4}begins as progress \(claimed\)\n/);
  assert.match(short, /\n {4}progress \(claimed\) -> success \(confirmed\)\n/);
  assert.match(short, /\n {4}release: unchecked -> no\n/);
  assert.match(short, /\nAge +created 2 h ago, changed 116 min ago\n/);
  assert.doesNotMatch(short, /currencyAmount|Where the fields come from/);
  assert.doesNotMatch(short, /refused/);
});

Deno.test("explanationLines() says that a late webhook changes nothing", () => {
  assert.match(
    text(explained, false),
    /= .*webhook order_complete.*\n {4}Changes nothing\. The service showed success before and shows cancelled now/,
  );
});

Deno.test("explanationLines() shows every field and where it comes from when verbose", () => {
  const long = text(explained, true);
  assert.match(long, /\n {4}currencyAmount: none -> 30\.00\n/);
  assert.match(long, /\n {4}history: /);
  assert.match(long, /\nWhere the fields come from:\n/);
  assert.equal(long.match(/release: unchecked -> no/g)?.length, 1);
});
