import fc from "fast-check";
import assert from "node:assert/strict";
import { compareTimes, earlierTime, laterTime, normaliseTime } from "./time.ts";

Deno.test("normaliseTime() reads the service's times as UTC", () => {
  const cases: readonly (readonly [string | null, string | null])[] = [
    ["2026-11-20 09:05:00", "2026-11-20T09:05:00Z"],
    ["2026-11-20T09:05:00", "2026-11-20T09:05:00Z"],
    ["2026-11-20T09:05:00Z", "2026-11-20T09:05:00Z"],
    ["2026-11-20 09:05:00 UTC", "2026-11-20T09:05:00Z"],
    ["2026-11-20 09:05:00.25", "2026-11-20T09:05:00.25Z"],
    ["2026-11-20T09:05:00.123456Z", "2026-11-20T09:05:00.123456Z"],
    ["2026-11-20T09:05:00+02:00", "2026-11-20T07:05:00.000Z"],
    ["", null],
    ["yesterday", null],
    ["Fri, 20 Nov 2026 09:05:00", null],
    [null, null],
  ];
  for (const [text, expected] of cases) {
    assert.equal(normaliseTime(text), expected, String(text));
  }
});

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
