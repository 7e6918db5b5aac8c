import assert from "node:assert/strict";
import fc from "fast-check";
import {
  isCalendarDate,
  normaliseTime,
  readQueryTime,
  readServiceTime,
} from "./service_time.ts";

/** What no reader of a time may take. */
const NO_TIMES = [
  "",
  "now",
  "2026-02-30 00:00:00",
  "2026-02-30T00:00:00Z",
  "2026-02-30T00:00:00+01:00",
  "2026-13-01 99:99:99",
  "2026-13-01 00:00:00",
  "2026-13-01T00:00:00Z",
  "2026-00-10T00:00:00Z",
  "2026-01-01 25:00:00",
  "2026-01-01T24:00:00Z",
  "2026-01-01T23:59:60Z",
  "2026-01-01",
  "01/02/2026",
  "31/01/2026 12:30:05",
  "2026-01-01T00:00:00+99:99",
  "Fri, 20 Nov 2026 09:05:00",
  "Fri, 20 Nov 2026 09:05:00 +0200",
];

Deno.test("normaliseTime() reads the service's times as UTC", () => {
  const cases: readonly (readonly [string | null, string | null])[] = [
    ["2026-11-20 09:05:00", "2026-11-20T09:05:00Z"],
    ["2026-01-31 23:59:59", "2026-01-31T23:59:59Z"],
    ["2026-11-20T09:05:00", "2026-11-20T09:05:00Z"],
    ["2026-11-20T09:05:00Z", "2026-11-20T09:05:00Z"],
    ["2026-11-20 09:05:00 UTC", "2026-11-20T09:05:00Z"],
    ["2026-11-20 09:05:00.25", "2026-11-20T09:05:00.25Z"],
    ["2026-11-20T09:05:00.123456Z", "2026-11-20T09:05:00.123456Z"],
    ["2026-11-20T09:05:00+02:00", "2026-11-20T07:05:00.000Z"],
    ["2026-11-20T09:05:00-0230", "2026-11-20T11:35:00.000Z"],
    ["0000-01-01T00:00:00+02:00", null],
    ["9999-12-31T23:59:59-02:00", null],
    [null, null],
  ];
  for (const [text, expected] of cases) {
    assert.equal(normaliseTime(text), expected, String(text));
  }
});

Deno.test("readServiceTime() reads the times of orders and of users as UTC", () => {
  const time = Date.UTC(2026, 0, 31, 12, 30, 5);
  assert.equal(readServiceTime("2026-01-31 12:30:05"), time);
  assert.equal(readServiceTime("2026-01-31T12:30:05.25Z"), time + 250);
  assert.equal(readServiceTime("2026-01-31T12:30:05.250999Z"), time + 250);
  assert.equal(readServiceTime("2026-01-31T13:30:05+01:00"), time);
});

Deno.test("normaliseTime(), readServiceTime() and readQueryTime() refuse the same impossible times", () => {
  for (const text of NO_TIMES) {
    assert.equal(normaliseTime(text), null, text);
    assert.equal(readServiceTime(text), null, text);
    assert.equal(readQueryTime(text), null, text);
  }
});

Deno.test("readServiceTime() and readQueryTime() keep every second of every day", () => {
  const years = { min: new Date("1970-01-01"), max: new Date("9999-12-31") };
  fc.assert(fc.property(fc.date({ ...years, noInvalidDate: true }), (date) => {
    const second = `${date.toISOString().slice(0, 19)}Z`;
    const asSent = second.slice(0, 19).replace("T", " ");
    assert.equal(normaliseTime(asSent), second);
    assert.equal(readServiceTime(asSent), Date.parse(second));
    assert.equal(readServiceTime(second), Date.parse(second));
    assert.equal(readQueryTime(second), Date.parse(second));
  }));
});

Deno.test("isCalendarDate() takes the days that exist", () => {
  for (const day of ["2028-02-29", "2000-02-29", "2026-12-31"]) {
    assert.equal(isCalendarDate(day), true, day);
  }
  for (
    const text of [
      "2026-02-29",
      "1900-02-29",
      "2026-04-31",
      "2026-1-1",
      "",
      "x",
    ]
  ) {
    assert.equal(isCalendarDate(text), false, text);
  }
});
