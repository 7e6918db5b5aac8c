import assert from "node:assert/strict";
import { describeMove } from "./state.ts";

Deno.test("describeMove() says how the service's own move is odd", () => {
  const success = { status: "success", trust: "confirmed" } as const;
  assert.equal(
    describeMove({
      from: success,
      to: { status: "cancelled", trust: "confirmed" },
      decision: "reading",
      reading: {
        from: "success",
        to: "cancelled",
        kind: "unusual",
        anomaly: "final_changed",
      },
    }),
    "success (confirmed) -> cancelled (confirmed); the service went from " +
      "success to cancelled, which is unusual (final_changed)",
  );
});

Deno.test("describeMove() says what an order begins as, and that it stays", () => {
  const claimed = { status: "success", trust: "claimed" } as const;
  assert.equal(
    describeMove({ from: null, to: claimed, decision: "claim", reading: null }),
    "begins as success (claimed)",
  );
  assert.equal(
    describeMove({
      from: claimed,
      to: claimed,
      decision: "claim",
      reading: { from: "created", to: "pending", kind: "usual", anomaly: null },
    }),
    "stays success (claimed)",
  );
});
