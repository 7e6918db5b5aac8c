import assert from "node:assert/strict";
import { failReasons } from "../../../core/assets/fail_reason.ts";
import type { OrderVerdict } from "../../../ledger/mod.ts";
import { customerMessage } from "./customer_message.ts";

Deno.test("customerMessage() has words of its own for each documented reason of a failure", () => {
  const said = failReasons.filter((code) => code !== "4016").map((failReason) =>
    customerMessage({ code: "failed", failReason, claimedTxId: null })
  );
  const unknown = customerMessage({
    code: "failed",
    failReason: "9999",
    claimedTxId: null,
  });
  assert.equal(unknown, "Your payment failed. No crypto was sent.");
  assert.ok(said.length >= 14);
  assert.ok(!said.includes(unknown));
  for (const text of said) assert.match(text, /^[A-Z].*\.$/);
});

Deno.test("customerMessage() promises nothing that only a webhook says", () => {
  const claims: readonly OrderVerdict[] = [
    { code: "not_confirmed", claimed: "success", read: null },
    { code: "not_confirmed", claimed: "success", read: "pending" },
    { code: "not_shown_yet", claimed: "success" },
    { code: "claim_rejected", claimed: ["success"], read: "pending" },
    { code: "unknown_to_service" },
  ];
  for (const verdict of claims) {
    assert.doesNotMatch(
      customerMessage(verdict),
      /complete|was sent|has arrived/,
      verdict.code,
    );
  }
});

Deno.test("customerMessage() names the transaction of a success", () => {
  assert.match(
    customerMessage({ code: "succeeded", txId: "0xfeed" }),
    /The transaction is 0xfeed$/,
  );
});
