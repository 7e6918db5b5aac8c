import fc from "fast-check";
import assert from "node:assert/strict";
import type { RecordedEvent } from "./event.ts";
import {
  compareTimes,
  earlierTime,
  effectiveReadAt,
  effectiveTime,
  laterTime,
} from "./time.ts";
import {
  absentRead,
  at,
  ORDER,
  orderRead,
  serviceTime,
  TX,
  USER,
  userRead,
  userWebhook,
} from "../testing/given_facts.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { foldUser } from "../testing/fold_user.ts";
import { decideOrderStatus } from "../orders/order_status.ts";
import { readFact } from "./read_fact.ts";
import { orderState } from "../states/order_state.ts";
import { userState } from "../users/user_state.ts";

Deno.test("compareTimes() orders whole and fractional seconds as Date does", () => {
  const time = fc.tuple(
    fc.integer({ min: 0, max: 3_000 }),
    fc.constantFrom(0, 1, 2, 3),
  ).map(([ms, digits]) => {
    const text = new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
    return digits === 0
      ? `${text.slice(0, 19)}Z`
      : `${text.slice(0, 20 + digits)}Z`;
  });
  fc.assert(fc.property(time, time, (a, b) => {
    const difference = Date.parse(a) - Date.parse(b);
    if (difference !== 0) {
      assert.equal(Math.sign(compareTimes(a, b)), Math.sign(difference));
    }
    assert.equal(compareTimes(a, b) > 0, compareTimes(b, a) < 0);
    assert.equal(compareTimes("", a) < 0, true);
  }));
});

Deno.test("laterTime() and earlierTime() take null as nothing known", () => {
  const [a, b] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];
  assert.equal(laterTime(null, a), a);
  assert.equal(laterTime(b, a), b);
  assert.equal(laterTime(a, null), a);
  assert.equal(earlierTime(null, b), b);
  assert.equal(earlierTime(b, a), a);
});

const order = (...events: RecordedEvent[]) =>
  orderState(foldOrder(ORDER, events.map(readFact)));

Deno.test("effectiveReadAt() believes a stated time within two minutes of ours, either way", () => {
  const recordedAt = at(60);
  for (const minutes of [-2, -1.5, 0, 1.5, 2]) {
    assert.equal(
      effectiveReadAt(at(60 + minutes), recordedAt),
      at(60 + minutes),
    );
  }
  for (const stated of [at(57.99), at(62.01), "2099-01-01T00:00:00Z", "soon"]) {
    assert.equal(effectiveReadAt(stated, recordedAt), recordedAt, stated);
  }
  assert.equal(effectiveReadAt(null, recordedAt), recordedAt);
});

Deno.test("effectiveTime() lets a time of the service lie five minutes after the reading, and no more", () => {
  const read = at(60);
  for (const time of ["", at(0), at(60), at(65)]) {
    assert.deepEqual(effectiveTime(time, read), { counts: time, stated: null });
  }
  for (
    const time of [at(65.001), "9999-12-31T23:59:59Z", "2026-99-99T00:00:00Z"]
  ) {
    assert.deepEqual(effectiveTime(time, read), { counts: read, stated: time });
  }
});

Deno.test("orderState() lets later readings of an order win over one whose change is dated 2099", () => {
  const frozen = orderRead(1, "pending", null, {
    changed_at: "2099-01-01 00:00:00",
  });
  const before = order(frozen);
  assert.equal(before.changedAt, "2099-01-01T00:00:00Z");
  assert.deepEqual(before.anomalies, [{
    kind: "time_in_future",
    field: "changedAt",
    stated: "2099-01-01T00:00:00Z",
  }]);
  const after = order(frozen, orderRead(9, "success", 8, { tx_id: TX }));
  assert.equal(after.status, "success");
  assert.deepEqual(after.anomalies, []);
});

Deno.test("orderState() follows a service whose clock is three hours ahead, whenever it is put right", () => {
  const ahead = (minute: number, status: string) =>
    orderRead(minute, status, minute + 180, { created_at: serviceTime(180) });
  const events = [ahead(1, "created"), ahead(2, "pending")];
  assert.equal(order(...events).status, "pending");
  const right = orderRead(4, "success", 3, { tx_id: TX });
  assert.equal(order(...events, right).status, "success");
});

Deno.test("orderState() takes no order for younger than the first reading that shows it", () => {
  const read = orderRead(2, "pending", 1, {
    created_at: "9999-12-31 23:59:59",
  });
  const { createdAt, anomalies } = order(read);
  assert.equal(createdAt, "9999-12-31T23:59:59Z");
  assert.equal(foldOrder(ORDER, [readFact(read)]).createdAt, at(2));
  assert.deepEqual(anomalies.map(({ kind, field }) => [kind, field]), [
    ["time_in_future", "createdAt"],
  ]);
});

Deno.test("orderState() does not believe an absence that is dated 2099 once the order is shown", () => {
  const absent = { ...absentRead(1), readAt: "2099-01-01T00:00:00.000Z" };
  assert.deepEqual(order(absent, orderRead(5, "pending", 4)).anomalies, []);
});

Deno.test("userState() lets later readings of a user win over one dated 2099", () => {
  const frozen = {
    ...userRead(1, {
      lkyc_status: "success",
      created_at: "9999-01-01T00:00:00Z",
    }),
    readAt: "2099-01-01T00:00:00.000Z",
  };
  const { createdAt, anomalies } = userState(
    foldUser(USER, [readFact(frozen)]),
  );
  assert.equal(createdAt, "9999-01-01T00:00:00Z");
  assert.deepEqual(anomalies.map(({ kind, field }) => [kind, field]), [
    ["time_in_future", "createdAt"],
  ]);
  const now = (event: RecordedEvent) =>
    userState(foldUser(USER, [frozen, event].map(readFact)));
  assert.equal(now(userRead(2, { lkyc_status: "failed" })).status, "failed");
  // What a webhook says after that reading counts as said after it.
  const claimed = now(userWebhook(3, "verify_retry", "retry", "success"));
  assert.equal(claimed.needsConfirm, true);
});

Deno.test("orderState() believes a row that was dated ahead and is put right to an earlier time", () => {
  const wrong = orderRead(9, "success", null, {
    changed_at: "2099-01-01 00:00:00",
    tx_id: TX,
  });
  const right = orderRead(20, "cancelled", 8);
  for (const events of [[wrong, right], [right, wrong]]) {
    const { status, release } = order(...events);
    assert.equal(status, "cancelled");
    assert.notEqual(release, "yes");
  }
  assert.equal(order(right, { ...wrong, position: 2 }).status, "cancelled");
  assert.equal(order(orderRead(2, "pending", 1), wrong).status, "success");
});

Deno.test("decideOrderStatus() does not let one answer dated 2099 decide between readings of one change", () => {
  const first = {
    ...orderRead(1, "pending", null, { changed_at: undefined }),
    readAt: "2099-01-01T00:00:00.000Z",
  };
  const later = orderRead(2, "progress", null, { changed_at: undefined });
  const fold = foldOrder(ORDER, [first, later].map(readFact));
  assert.equal(decideOrderStatus(fold).status, "progress");
});
