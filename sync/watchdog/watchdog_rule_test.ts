import assert from "node:assert/strict";
import fc from "fast-check";
import {
  deliveryHealth,
  GRACE_MS,
  type WatchedFacts,
  webhookDueMs,
} from "./watchdog_rule.ts";
import type { WatchedChange } from "../../ledger/for_sync.ts";

const start = Date.parse("2026-11-20T10:00:00.000Z");
const at = (ms: number) => new Date(start + ms).toISOString();
const minute = 60_000;

function move(ms: number, announced = false): WatchedChange {
  return {
    orderId: `order-${ms}`,
    status: "progress",
    movedAt: at(ms),
    seenAt: at(ms + 30_000),
    announced,
  };
}

function facts(changes: Partial<WatchedFacts>): WatchedFacts {
  return {
    changes: [],
    lastReceivedAt: at(-minute),
    failingSince: null,
    waitingSince: null,
    watchedSince: at(-60 * minute),
    nowMs: start + 10 * minute,
    ...changes,
  };
}

Deno.test("deliveryHealth() is quiet in quiet hours", () => {
  fc.assert(fc.property(
    fc.integer({ min: 0, max: 1000 * 3_600_000 }),
    fc.option(fc.constant(at(-minute))),
    (elapsedMs, lastReceivedAt) => {
      const nowMs = start + elapsedMs;
      const health = deliveryHealth(facts({ nowMs, lastReceivedAt }));
      assert.equal(health.deliverySuspected, false);
      assert.equal(health.countdown, null);
      const known = lastReceivedAt !== null;
      assert.equal(health.state, known ? "ok" : "never_received");
    },
  ));
});

Deno.test("deliveryHealth() says how many more have to be announced while webhooks come again", () => {
  const lost = [move(0), move(1000), move(2000)];
  const health = (announced: number, minutes: number) =>
    deliveryHealth(facts({
      changes: [
        ...lost,
        ...Array.from(
          { length: announced },
          (_, n) => move(8 * minute + n * 1000, true),
        ),
      ],
      nowMs: start + minutes * minute,
    }));
  assert.equal(health(0, 10).clearsAfter, null);
  // Announced at once, long before their time is over.
  assert.equal(health(1, 9).clearsAfter, 4);
  assert.equal(health(4, 9).clearsAfter, 1);
  assert.equal(health(7, 9).clearsAfter, 0);
  assert.equal(health(7, 9).deliverySuspected, true);
  const over = health(5, 16);
  assert.deepEqual([over.deliverySuspected, over.clearsAfter], [false, null]);
});

/** Two changes of one order, a second apart. */
function twoMoves(ms: number, announced = false): WatchedChange[] {
  return [
    move(ms, announced),
    {
      ...move(ms + 1000, announced),
      orderId: `order-${ms}`,
      status: "success",
    },
  ];
}

Deno.test("deliveryHealth() suspects two moves in a row whose webhooks are overdue", () => {
  const stands = (nowMs: number) =>
    deliveryHealth(facts({ changes: twoMoves(-1000), nowMs }));
  assert.equal(stands(start + GRACE_MS - 1).deliverySuspected, false);
  const health = stands(start + GRACE_MS);
  assert.equal(health.deliverySuspected, true);
  assert.equal(health.since, at(-1000));
  assert.equal(health.silentOrders, 1);
  assert.equal(health.silentSince, at(-1000));
});

Deno.test("deliveryHealth() waits longer for webhooks of a time in which nothing ran", () => {
  const pauses = [{ fromMs: start - minute, untilMs: start + 20 * minute }];
  const stands = (minutes: number) =>
    deliveryHealth(
      facts({ changes: twoMoves(0), pauses, nowMs: start + minutes * minute }),
    ).state;
  assert.equal(stands(70), "ok");
  assert.equal(stands(72), "suspected");
});

Deno.test("deliveryHealth() counts both readings of the ladder down", () => {
  const nowMs = start + 3_600_000;
  const { countdown } = deliveryHealth(facts({ changes: twoMoves(0), nowMs }));
  assert.deepEqual(countdown, {
    firstFailureAt: at(0),
    offAtFromFirst: at(8 * 3_600_000),
    leftFromFirstMs: 7 * 3_600_000,
    offAtFromPrevious: at(15 * 3_600_000 + 5 * minute),
    leftFromPreviousMs: 14 * 3_600_000 + 5 * minute,
  });
});

Deno.test("deliveryHealth() does not suspect for one lost webhook, and names it", () => {
  const health = deliveryHealth(
    facts({ changes: [move(0), move(minute, true)] }),
  );
  assert.equal(health.state, "ok");
  assert.equal(health.deliverySuspected, false);
  assert.equal(health.silentOrders, 1);
});

Deno.test("deliveryHealth() takes no delivery about another order for a sign of life", () => {
  const health = deliveryHealth(
    facts({ changes: twoMoves(0), lastReceivedAt: at(9 * minute) }),
  );
  assert.equal(health.state, "suspected");
});

Deno.test("deliveryHealth() is not calmed by changes that are announced at once", () => {
  // Silent ones of the same minutes are not overdue yet.
  const early = [1, 2, 3, 4, 5, 6].map((n) => move(7 * minute + n, true));
  const nowMs = start + 10 * minute;
  const stands = (changes: WatchedChange[]) =>
    deliveryHealth(facts({ changes: [...twoMoves(0), ...changes], nowMs }))
      .state;
  assert.equal(stands(early), "suspected");
  const settled = [1, 2, 3, 4, 5].map((n) => move(2 * minute + n, true));
  assert.equal(stands(settled), "ok");
});

Deno.test("deliveryHealth() does not miss a webhook that may wait to go into the ledger", () => {
  const nowMs = start + 60 * minute;
  const stands = (waitingSince: string) =>
    deliveryHealth(facts({ changes: twoMoves(-1000), waitingSince, nowMs }));
  const health = stands(at(GRACE_MS - 1));
  assert.equal(health.state, "ok");
  assert.equal(health.waitingSince, at(GRACE_MS - 1));
  assert.equal(stands(at(GRACE_MS)).state, "suspected");
});

Deno.test("deliveryHealth() suspects as ever when what waits came only now", () => {
  const nowMs = start + GRACE_MS;
  const changes = twoMoves(-1000);
  const stands = (waitingSince: string) =>
    deliveryHealth(facts({ changes, waitingSince, nowMs })).state;
  assert.equal(stands(at(GRACE_MS)), "suspected");
  assert.equal(stands(at(60 * minute)), "suspected");
});

Deno.test("deliveryHealth() calms down when the webhooks come after all", () => {
  const health = deliveryHealth(
    facts({ changes: twoMoves(0, true), nowMs: start + 60 * minute }),
  );
  assert.equal(health.deliverySuspected, false);
});

Deno.test("deliveryHealth() leaves changes alone that nobody watched", () => {
  const changes = twoMoves(-120 * minute);
  assert.equal(
    deliveryHealth(facts({ changes, lastReceivedAt: null })).deliverySuspected,
    false,
  );
});

Deno.test("deliveryHealth() tells a ledger that never had a webhook apart, without alarm", () => {
  const never = { changes: twoMoves(0), lastReceivedAt: null };
  const health = deliveryHealth(facts(never));
  assert.equal(health.state, "never_received");
  assert.equal(health.deliverySuspected, false);
  assert.equal(health.since, null);
  assert.equal(health.countdown, null);
  assert.equal(health.silentOrders, 1);
  assert.equal(health.silentSince, at(0));
  assert.equal(
    deliveryHealth(facts({ ...never, changes: [] })).silentSince,
    null,
  );
});

Deno.test("deliveryHealth() suspects as ever where deliveries came too late", () => {
  const health = deliveryHealth(facts({
    changes: twoMoves(0),
    lastReceivedAt: null,
    failingSince: at(-minute),
  }));
  assert.equal(health.state, "suspected");
  assert.equal(health.deliverySuspected, true);
});

Deno.test("deliveryHealth() counts down while deliveries are not answered in time", () => {
  const health = deliveryHealth(facts({ failingSince: at(-2 * minute) }));
  assert.equal(health.deliverySuspected, false);
  assert.equal(health.countdown?.firstFailureAt, at(-2 * minute));
  assert.equal(health.state, "failing");
  assert.equal(health.failingSince, at(-2 * minute));
});

Deno.test("deliveryHealth() counts from the earlier of both failures", () => {
  const health = deliveryHealth(
    facts({ changes: twoMoves(0), failingSince: at(minute) }),
  );
  assert.equal(health.countdown?.firstFailureAt, at(0));
});

const minuteOfWebhookDue = 60_000;
const startMs = Date.parse("2026-11-20T10:00:00.000Z");
const atOfWebhookDue = (minutes: number) =>
  startMs + minutes * minuteOfWebhookDue;
const moved = (minutes: number) => ({
  movedAt: new Date(atOfWebhookDue(minutes)).toISOString(),
  announced: false,
});

Deno.test("webhookDueMs() is the grace after the change while somebody listened", () => {
  assert.equal(
    webhookDueMs(moved(0), []),
    atOfWebhookDue(6),
  );
  const later = { fromMs: atOfWebhookDue(2), untilMs: atOfWebhookDue(9) };
  assert.equal(
    webhookDueMs(moved(0), [later]),
    atOfWebhookDue(6),
  );
});

Deno.test("webhookDueMs() waits for the attempt after a time in which nothing ran", () => {
  const due = (minutes: number, untilMinutes: number) =>
    webhookDueMs(moved(minutes), [
      { fromMs: atOfWebhookDue(0), untilMs: atOfWebhookDue(untilMinutes) },
    ]);
  assert.equal(
    due(1, 4),
    atOfWebhookDue(1 + 5 + 6),
    "the second attempt after 5 minutes",
  );
  assert.equal(
    due(1, 10),
    atOfWebhookDue(1 + 65 + 6),
    "the third, by the later reading",
  );
  assert.equal(
    due(1, 63),
    atOfWebhookDue(1 + 120 + 6),
    "62 minutes: 2 h or 1 h 05 min",
  );
  const announced = { ...moved(1), announced: true };
  const pause = { fromMs: atOfWebhookDue(0), untilMs: atOfWebhookDue(10) };
  assert.equal(
    webhookDueMs(announced, [pause]),
    atOfWebhookDue(1 + 6),
  );
  assert.equal(
    due(1, 24 * 60),
    atOfWebhookDue(1 + 6),
    "after the last none comes",
  );
});
