import assert from "node:assert/strict";
import { orderMove } from "./order_move.ts";

const askedAt = "2026-11-20T10:00:30.000Z";
const before = { status: "created", askedAt: "2026-11-20T09:58:00.000Z" };
const moved = {
  before,
  status: "progress",
  changedAt: "2026-11-20 10:00:00",
  readAt: "2026-11-20T10:00:30.000Z",
  askedAt,
};

Deno.test("orderMove() dates a move by the age of the change", () => {
  assert.deepEqual(orderMove(moved), {
    status: "progress",
    movedAt: "2026-11-20T10:00:00.000Z",
    seenAt: askedAt,
  });
});

Deno.test("orderMove() does not mind a service clock ten minutes off", () => {
  for (const skew of ["2026-11-20 10:10", "2026-11-20 09:50"]) {
    const move = orderMove({
      ...moved,
      changedAt: `${skew}:00`,
      readAt: `${skew.replace(" ", "T")}:30.000Z`,
    });
    assert.equal(move?.movedAt, "2026-11-20T10:00:00.000Z");
  }
});

Deno.test("orderMove() places a move after the reading that did not show it", () => {
  const move = orderMove({ ...moved, changedAt: "2026-11-19 10:00:00" });
  assert.equal(move?.movedAt, before.askedAt);
});

Deno.test("orderMove() takes the time of asking where no change is stated", () => {
  for (const changedAt of [null, "", "yesterday"]) {
    assert.equal(orderMove({ ...moved, changedAt })?.movedAt, askedAt);
  }
});

Deno.test("orderMove() sees no move where nothing announces one", () => {
  assert.equal(orderMove({ ...moved, status: "created" }), null);
  assert.equal(orderMove({ ...moved, status: "pending" }), null);
  assert.equal(orderMove({ ...moved, status: "on_hold" }), null);
  assert.equal(orderMove({ ...moved, status: "constructor" }), null);
  assert.equal(
    orderMove({ ...moved, before: { ...before, status: "progress" } }),
    null,
  );
});

Deno.test("orderMove() dates the first sight of an order by its change", () => {
  const move = orderMove({
    ...moved,
    before: null,
    changedAt: "2020-01-01 00:00:00",
  });
  assert.equal(move?.movedAt, "2020-01-01T00:00:00.000Z");
});
