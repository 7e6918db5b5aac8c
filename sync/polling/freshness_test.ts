import assert from "node:assert/strict";
import { type AgeBound, freshnessOf, type RequestTimes } from "./freshness.ts";

const minute = 60_000;
const bound = {
  newOrderMs: minute,
  firstClaimMs: minute,
  namedByWebhookMs: minute,
  openOrderMs: minute,
  recentlyFinalMs: minute,
  anythingMs: 120 * minute,
};
const at = (minutes: number) => new Date(minutes * minute).toISOString();
const nowMs = 11 * minute;
const shown: RequestTimes = {
  requestedAt: at(10),
  wasObserved: true,
  openDueAtMs: null,
  finalAtMs: null,
  namedDueAtMs: null,
};

Deno.test("freshnessOf() names the soonest reason to ask again, and when", () => {
  const of = (times: Partial<RequestTimes>) => {
    const { tier, nextAt } = freshnessOf({ ...shown, ...times }, bound, nowMs);
    return [tier, nextAt];
  };
  assert.deepEqual(of({}), ["deep", null]);
  assert.deepEqual(of({ openDueAtMs: 12 * minute }), ["open", at(12)]);
  assert.deepEqual(of({ openDueAtMs: 20 * minute, finalAtMs: 5 * minute }), [
    "recently_final",
    at(20),
  ]);
  assert.deepEqual(
    of({ openDueAtMs: 20 * minute, namedDueAtMs: 11 * minute }),
    [
      "named",
      at(11),
    ],
  );
});

Deno.test("freshnessOf() promises the pause and the queue, and never more than the cycle", () => {
  const of = (openDueAtMs: number | null) =>
    freshnessOf({ ...shown, openDueAtMs }, bound, nowMs).maxAgeMs;
  assert.equal(of(null), 120 * minute);
  assert.equal(of(12 * minute), 3 * minute);
  assert.equal(of(1000 * minute), 120 * minute);
  assert.equal(of(5 * minute), minute, "a pause before the question is none");
});

Deno.test("freshnessOf() promises nothing while polling does not work, and says why", () => {
  const of = (
    times: Partial<RequestTimes>,
    promised: AgeBound,
    atMs = nowMs,
  ) => {
    const fresh = freshnessOf({ ...shown, ...times }, promised, atMs);
    assert.equal(fresh.maxAgeMs, null);
    return fresh.unboundedReason;
  };
  assert.equal(of({}, "not_polled"), "not_polled");
  assert.equal(of({}, "polling_fails"), "polling_fails");
  assert.equal(of({ requestedAt: null }, bound), "never_observed");
  assert.equal(of({ wasObserved: false }, "not_polled"), "never_observed");
  assert.equal(of({}, bound, nowMs + 120 * minute), "behind");
  assert.equal(
    of({ openDueAtMs: 12 * minute }, bound, nowMs + 3 * minute),
    "behind",
  );
  assert.equal(of({}, bound, nowMs - 60 * minute), "behind", "set back");
});
