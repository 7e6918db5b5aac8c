import assert from "node:assert/strict";
import { initialOrderFold, type OrderFold } from "../orders/order_fold.ts";
import { initialUserFold } from "../users/user_fold.ts";
import { urgencyOfOrder, urgencyOfUser } from "./urgency.ts";

type Claim = OrderFold["claims"][number];

function order(claims: readonly string[], shown: readonly string[] = []) {
  const lastAt = "2026-11-20T12:00:00.000Z";
  return {
    ...initialOrderFold("O1"),
    claims: claims.map((status) => ({ status, lastAt, bodies: [] }) as Claim),
    observedStatuses: shown.map((status) => ({ status })),
  } as unknown as OrderFold;
}

Deno.test("urgencyOfOrder() is 1 for the first claim of a status, 2 where that is final, once each", () => {
  assert.equal(urgencyOfOrder(undefined, order([])), 0);
  assert.equal(urgencyOfOrder(undefined, order(["progress"])), 1);
  assert.equal(urgencyOfOrder(undefined, order(["success"])), 2);
  const known = order(["progress"]);
  assert.equal(urgencyOfOrder(known, order(["progress"])), 0);
  assert.equal(urgencyOfOrder(known, order(["progress", "pending"])), 1);
  assert.equal(urgencyOfOrder(known, order(["progress", "failed"])), 2);
});

Deno.test("urgencyOfOrder() is 0 for a status that the service has shown", () => {
  const shown = ["created", "success"];
  assert.equal(urgencyOfOrder(order([], shown), order(["success"], shown)), 0);
});

Deno.test("urgencyOfUser() is the same of both verifications, and 0 for states that nobody has documented", () => {
  const none = initialUserFold("U1");
  const said = (state: string) => [{ state, lastAt: "2026-11-20T12:00:00Z" }];
  assert.equal(urgencyOfUser(undefined, none), 0);
  assert.equal(urgencyOfUser(none, { ...none, lkyc: said("progress") }), 1);
  assert.equal(urgencyOfUser(none, { ...none, fkyc: said("success") }), 2);
  assert.equal(urgencyOfUser(none, { ...none, fkyc: said("made_up") }), 0);
  const shown = { ...none, observedFkyc: ["success"] };
  assert.equal(urgencyOfUser(shown, { ...shown, fkyc: said("success") }), 0);
  const claimed = { ...none, lkyc: said("failed") };
  assert.equal(urgencyOfUser(claimed, { ...claimed, lkyc: said("failed") }), 0);
});
