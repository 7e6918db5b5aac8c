import assert from "node:assert/strict";
import type { Anomaly } from "../../ledger/mod.ts";
import { describeAnomaly, describeOrderReason } from "./state.ts";
import { describeFinding } from "./reconcile.ts";

Deno.test("describeAnomaly() tells whose a mismatch is, and whether the customer may choose", () => {
  const mismatch = {
    kind: "amount_mismatch",
    field: "currencyAmount",
    source: "session",
    requested: "99",
    ordered: "30",
    customerMayChoose: false,
  } as const satisfies Anomaly;
  assert.equal(
    describeAnomaly(mismatch),
    "The session asked for 99, the order has 30",
  );
  assert.equal(
    describeAnomaly({
      ...mismatch,
      customerMayChoose: true,
    }),
    "The session asked for 99, the order has 30, which its flow leaves open to the customer",
  );
});

Deno.test("describeOrderReason() joins statuses with and", () => {
  assert.equal(
    describeOrderReason({
      code: "final_reading_contested",
      read: "failed",
      contesting: ["success", "cancelled"],
    }),
    "The latest reading shows failed, and a claim of success and cancelled does not change a final status",
  );
});

Deno.test("describeFinding() names the fields that differ, and unknown values", () => {
  assert.equal(
    describeFinding({
      finding: { code: "change_not_read" },
      differences: [
        { field: "status", service: "success", ledger: "pending" },
        { field: "txId", service: "0xab", ledger: null },
      ],
    }),
    "The ledger has not read the last change: status is success at the service and pending here; txId is 0xab at the service and unknown here",
  );
});

Deno.test("describeFinding() says what the service shows against a claim", () => {
  const claimed = "success";
  const sentence = (read: string | null) =>
    describeFinding({
      finding: { code: "claim_contradicted", claimed, read },
      differences: [],
    });
  assert.equal(
    sentence("failed"),
    "A webhook claimed success, and the service shows failed",
  );
  assert.equal(
    sentence(null),
    "A webhook claimed success, and the service did not agree",
  );
});
