import assert from "node:assert/strict";
import { observedChange } from "./transition.ts";

const requestedAt = "2026-11-20T10:00:30.000Z";
const before = { status: "created", requestedAt: "2026-11-20T09:58:00.000Z" };
const moved = {
  before,
  status: "progress",
  changedAt: "2026-11-20 10:00:00",
  readAt: "2026-11-20T10:00:30.000Z",
  requestedAt,
};

Deno.test("observedChange() dates a move by the age of the change", () => {
  assert.deepEqual(observedChange(moved), {
    status: "progress",
    movedAt: "2026-11-20T10:00:00.000Z",
    seenAt: requestedAt,
  });
});

Deno.test("observedChange() does not mind a service clock ten minutes off", () => {
  for (const skew of ["2026-11-20 10:10", "2026-11-20 09:50"]) {
    const move = observedChange({
      ...moved,
      changedAt: `${skew}:00`,
      readAt: `${skew.replace(" ", "T")}:30.000Z`,
    });
    assert.equal(move?.movedAt, "2026-11-20T10:00:00.000Z");
  }
});

Deno.test("observedChange() places a move after the reading that did not show it", () => {
  const move = observedChange({ ...moved, changedAt: "2026-11-19 10:00:00" });
  assert.equal(move?.movedAt, before.requestedAt);
});

Deno.test("observedChange() takes the time of asking where no change is stated", () => {
  for (const changedAt of [null, "", "yesterday"]) {
    assert.equal(observedChange({ ...moved, changedAt })?.movedAt, requestedAt);
  }
});

Deno.test("observedChange() sees no move where nothing announces one", () => {
  assert.equal(observedChange({ ...moved, status: "created" }), null);
  assert.equal(observedChange({ ...moved, status: "pending" }), null);
  assert.equal(observedChange({ ...moved, status: "on_hold" }), null);
  assert.equal(observedChange({ ...moved, status: "constructor" }), null);
  assert.equal(
    observedChange({ ...moved, before: { ...before, status: "progress" } }),
    null,
  );
});

Deno.test("observedChange() dates the first sight of an order by its change", () => {
  const move = observedChange({
    ...moved,
    before: null,
    changedAt: "2020-01-01 00:00:00",
  });
  assert.equal(move?.movedAt, "2020-01-01T00:00:00.000Z");
});

Deno.test("observedChange() dates no move after the reading that shows it", () => {
  const move = observedChange({
    ...moved,
    before: { ...before, requestedAt: "2099-01-01T00:00:00.000Z" },
  });
  assert.equal(move?.movedAt, moved.requestedAt);
});
