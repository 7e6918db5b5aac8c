import assert from "node:assert/strict";
import { initialOrderFold, type OrderFold } from "../orders/order_fold.ts";
import { initialUserFold } from "../users/user_state.ts";
import { urgencyOf } from "./rows.ts";

type Claim = OrderFold["claims"][number];

function order(claims: readonly string[], shown: readonly string[] = []) {
  const lastAt = "2026-11-20T12:00:00.000Z";
  return {
    ...initialOrderFold("O1"),
    claims: claims.map((status) => ({ status, lastAt, bodies: [] }) as Claim),
    observedStatuses: shown.map((status) => ({ status })),
  } as unknown as OrderFold;
}

Deno.test("urgencyOf() is 1 for the first claim of a status, 2 where that is final, once each", () => {
  assert.equal(urgencyOf(undefined, order([])), 0);
  assert.equal(urgencyOf(undefined, order(["progress"])), 1);
  assert.equal(urgencyOf(undefined, order(["success"])), 2);
  const known = order(["progress"]);
  assert.equal(urgencyOf(known, order(["progress"])), 0);
  assert.equal(urgencyOf(known, order(["progress", "pending"])), 1);
  assert.equal(urgencyOf(known, order(["progress", "failed"])), 2);
});

Deno.test("urgencyOf() is 0 for a status that the service has shown", () => {
  const shown = ["created", "success"];
  assert.equal(urgencyOf(order([], shown), order(["success"], shown)), 0);
});

Deno.test("urgencyOf() is the same of both verifications, and 0 for states that nobody has documented", () => {
  const none = initialUserFold("U1");
  const said = (state: string) => [{ state, lastAt: "2026-11-20T12:00:00Z" }];
  assert.equal(urgencyOf(undefined, none), 0);
  assert.equal(urgencyOf(none, { ...none, lkyc: said("progress") }), 1);
  assert.equal(urgencyOf(none, { ...none, fkyc: said("success") }), 2);
  assert.equal(urgencyOf(none, { ...none, fkyc: said("made_up") }), 0);
  const shown = { ...none, observedFkyc: ["success"] };
  assert.equal(urgencyOf(shown, { ...shown, fkyc: said("success") }), 0);
  const claimed = { ...none, lkyc: said("failed") };
  assert.equal(urgencyOf(claimed, { ...claimed, lkyc: said("failed") }), 0);
});
