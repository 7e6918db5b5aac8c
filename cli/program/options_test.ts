import assert from "node:assert/strict";
import { UsageError } from "../../settings/errors.ts";
import { moment, windowEnd } from "../../settings/values.ts";

Deno.test("moment() reads a day as its first moment and a time as itself", () => {
  const read = moment("--from");
  assert.equal(read("2026-11-20"), "2026-11-20T00:00:00.000Z");
  assert.equal(read("2026-11-20T14:30:00+02:00"), "2026-11-20T12:30:00.000Z");
});

Deno.test("windowEnd() takes all of a day in", () => {
  const read = windowEnd("--to");
  assert.equal(read("2026-11-30"), "2026-12-01T00:00:00.000Z");
  assert.equal(read("2026-11-30T12:00:00Z"), "2026-11-30T12:00:00.000Z");
});

Deno.test("moment() refuses a time without a zone and a day that does not exist", () => {
  for (
    const wrong of [
      "2026-11-20T14:30:00",
      "2026-02-30",
      "2026-02-30T10:00:00Z",
      "2026-13-01",
      "yesterday",
      "",
    ]
  ) {
    assert.throws(() => moment("--from")(wrong), UsageError, wrong);
  }
});
