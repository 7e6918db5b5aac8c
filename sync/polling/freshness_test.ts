import assert from "node:assert/strict";
import { freshnessOf, type Polling, type RequestTimes } from "./poll_status.ts";

const minute = 60_000;
const at = (minutes: number) => new Date(minutes * minute).toISOString();
const works: Polling = { doubt: null, allAskedSince: at(9) };
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
    const { tier, nextAt } = freshnessOf({ ...shown, ...times }, works, nowMs);
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

Deno.test("freshnessOf() doubts what was not asked for in time, and says why", () => {
  const of = (
    times: Partial<RequestTimes>,
    polling: Partial<Polling> = {},
    atMs = nowMs,
  ) =>
    freshnessOf({ ...shown, ...times }, { ...works, ...polling }, atMs).doubt;
  assert.equal(of({}), null);
  assert.equal(of({}, { doubt: "not_polled" }), "not_polled");
  assert.equal(of({}, { doubt: "polling_fails" }), "polling_fails");
  assert.equal(of({ requestedAt: null }), "never_observed");
  assert.equal(
    of({ wasObserved: false }, { doubt: "not_polled" }),
    "never_observed",
  );
  assert.equal(of({}, { allAskedSince: null }), null, "no cycle has ended");
  assert.equal(of({}, { allAskedSince: at(10.5) }), "behind");
  const due = { openDueAtMs: 12 * minute };
  assert.equal(of(due, { allAskedSince: at(10.5) }), null);
  assert.equal(of(due, {}, 17 * minute), null);
  assert.equal(of(due, {}, 18 * minute), "behind");
  assert.equal(of({}, {}, nowMs - 60 * minute), "behind", "set back");
});
