import assert from "node:assert/strict";
import fc from "fast-check";
import { serviceTime } from "./service_time.ts";

Deno.test("serviceTime() reads the times of orders as UTC", () => {
  assert.equal(serviceTime("2026-01-31 23:59:59"), "2026-01-31T23:59:59.000Z");
});

Deno.test("serviceTime() reads the times of users", () => {
  assert.equal(
    serviceTime("2024-05-02T10:11:12.123456Z"),
    "2024-05-02T10:11:12.123Z",
  );
  assert.equal(
    serviceTime("2024-05-02T10:11:12+02:00"),
    "2024-05-02T08:11:12.000Z",
  );
});

Deno.test("serviceTime() gives null for what is no time", () => {
  const others = [
    "",
    "now",
    "2026-02-30 00:00:00",
    "2026-13-01 00:00:00",
    "2026-01-01 25:00:00",
    "2026-01-01",
    "01/02/2026",
    "2026-01-01T00:00:00+99:99",
    null,
    undefined,
    1767225600000,
    {},
  ];
  for (const value of others) assert.equal(serviceTime(value), null);
});

Deno.test("serviceTime() keeps every second of every day", () => {
  const years = { min: new Date("1970-01-01"), max: new Date("9999-12-31") };
  fc.assert(fc.property(fc.date({ ...years, noInvalidDate: true }), (date) => {
    const second = `${date.toISOString().slice(0, 19)}.000Z`;
    const asSent = second.slice(0, 19).replace("T", " ");
    assert.equal(serviceTime(asSent), second);
    assert.equal(serviceTime(second), second);
  }));
});
