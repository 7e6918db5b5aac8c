import assert from "node:assert/strict";
import { verdictOf } from "./verdict.ts";

Deno.test("verdictOf() decides nothing of a call that two orders share", () => {
  const question = {
    network: "base",
    asset: "USDC",
    txId: `0x${"5a".repeat(32)}`,
    address: `0x${"a1".repeat(20)}`,
    amount: "10",
  };
  const finding = {
    place: "block",
    block: { blockHash: "0xb1", blockHeight: 7 },
    confirmations: 9,
    effect: { kind: "called", succeeded: true },
  } as const;
  const rule = { chainDecimals: 6, statedDecimals: 6, confirmations: 3 };
  const alone = verdictOf(finding, question, rule);
  assert.deepEqual([alone.verdict, alone.final], ["delivered", true]);
  const shared = verdictOf(finding, { ...question, others: ["10"] }, rule);
  assert.deepEqual(
    [shared.verdict, shared.reason, shared.final],
    ["undecided", "shared_transaction", false],
  );
});
