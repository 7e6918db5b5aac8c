import assert from "node:assert/strict";
import fc from "fast-check";
import {
  OPEN_AT_LEAST_MS,
  OPEN_AT_MOST_MS,
  requestAgainAfterMs,
} from "../../ledger/for_sync.ts";
import type { ShareRules } from "./fair_share.ts";
import {
  stalenessBound,
  type SweepPeriods,
  type WorkCounts,
} from "./poll_status.ts";

const rules: ShareRules = {
  requestsPerSecond: 2,
  burst: 2,
  shares: { new: 2, open: 3, confirm: 3, deep: 2 },
};
const periods: SweepPeriods = {
  followEveryMs: 15_000,
  confirmEveryMs: 1000,
  confirmAtLeastMs: 10_000,
  openEveryMs: 5000,
  openAtLeastMs: 20_000,
  deepCycleAtLeastMs: 0,
  itemsPerWindow: 200,
};
const none: WorkCounts = {
  orders: 0,
  users: 0,
  openOrders: 0,
  openUnknown: 0,
  recentlyFinal: 0,
  waiting: 0,
  waitingUnknown: 0,
  waitingUsers: 0,
  waitingUrgent: 0,
  ordersInOverlap: 0,
};

Deno.test("stalenessBound() follows from rate, shares and counts", () => {
  const bound = stalenessBound({ ...rules, ...periods }, {
    orders: 100_000,
    users: 10_000,
    openOrders: 200_400,
    openUnknown: 200_000,
    recentlyFinal: 0,
    waiting: 200_072,
    waitingUnknown: 200_000,
    waitingUsers: 2,
    waitingUrgent: 40,
    ordersInOverlap: 20,
  });
  // 2 requests a second, 2 parts of 10: 2.5 s a request.
  assert.equal(bound.newOrderMs, 15_000 + 2 * 4 * 2500);
  // 3 parts of 10 are 5/3 s a request.
  // Three of four requests are for known ids, and three of four of these for
  // orders; 40 urgent ones take two, and 30 others ten places of three.
  const first = Math.ceil(2 * 4 / 3 * 4 / 3 * 5000 / 3);
  assert.equal(bound.firstClaimMs, 1000 + 2 * first);
  const named = Math.ceil(5 * 4 / 3 * 4 / 3 * 5000 / 3);
  assert.equal(bound.namedByWebhookMs, 11_000 + 2 * named);
  const open = Math.ceil(40 * 4 / 3 * 5000 / 3);
  assert.equal(bound.openOrderMs, 25_000 + 2 * open);
  assert.equal(bound.recentlyFinalMs, 5000 + 2 * open);
  const deep = (5000 + 2 * 2000 + 500 + 2 * 200) * 2500;
  assert.equal(bound.anythingMs, 2 * deep);
});

Deno.test("stalenessBound() falls with the rate and grows with the counts", () => {
  const count = fc.nat(1_000_000);
  fc.assert(fc.property(
    fc.record({
      orders: count,
      users: count,
      openOrders: count,
      openUnknown: fc.constant(0),
      recentlyFinal: count,
      waiting: count,
      waitingUnknown: fc.constant(0),
      waitingUsers: fc.constant(0),
      waitingUrgent: fc.constant(0),
      ordersInOverlap: count,
    }),
    fc.integer({ min: 1, max: 1000 }),
    (counts, more) => {
      const bound = stalenessBound({ ...rules, ...periods }, counts);
      const faster = stalenessBound(
        {
          ...rules,
          ...periods,
          requestsPerSecond: rules.requestsPerSecond + more,
        },
        counts,
      );
      const grown = stalenessBound({ ...rules, ...periods }, {
        ...counts,
        orders: counts.orders + more,
        openOrders: counts.openOrders + more,
      });
      assert.ok(faster.anythingMs <= bound.anythingMs);
      assert.ok(faster.openOrderMs <= bound.openOrderMs);
      assert.ok(grown.anythingMs >= bound.anythingMs);
      assert.ok(grown.openOrderMs >= bound.openOrderMs);
    },
  ));
});

Deno.test("stalenessBound() of nothing is made of the pauses and a few requests", () => {
  const bound = stalenessBound({ ...rules, ...periods }, none);
  assert.ok(bound.newOrderMs <= 15_000 + 8 * 2500);
  assert.ok(bound.firstClaimMs <= 1000 + 4 * 5000 / 3);
  assert.ok(bound.namedByWebhookMs <= 11_000 + 11 * 5000 / 3);
});

Deno.test("requestAgainAfterMs() grows with stillness between its bounds", () => {
  assert.equal(requestAgainAfterMs(0), OPEN_AT_LEAST_MS);
  assert.equal(requestAgainAfterMs(-5), OPEN_AT_LEAST_MS);
  assert.equal(requestAgainAfterMs(3_600_000), 600_000);
  assert.equal(requestAgainAfterMs(400 * 24 * 3_600_000), OPEN_AT_MOST_MS);
  fc.assert(fc.property(fc.nat(), fc.nat(), (a, b) => {
    const [short, long] = a < b ? [a, b] : [b, a];
    assert.ok(requestAgainAfterMs(short) <= requestAgainAfterMs(long));
  }));
});
