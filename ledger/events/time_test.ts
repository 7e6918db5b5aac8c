import fc from "fast-check";
import assert from "node:assert/strict";
import { compareTimes, earlierTime, laterTime } from "./time.ts";

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
