import assert from "node:assert/strict";
import { floodLedger, tooLate } from "../long_flood.ts";
import { saying } from "../world/hostile_ports.ts";

Deno.test("tooLate() notices that invented ids get all requests", async () => {
  const report = await floodLedger({
    ids: 9000,
    driver: (next) =>
      saying(
        saying(
          next,
          "max(v.known, coalesce(o.found, 0)) AS known",
          "1 AS known",
        ),
        "iif(a.kind IS 'refused', 0, v.urgency) AS urgency",
        "0 AS urgency",
      ),
  });
  assert.notDeepEqual(tooLate(report), []);
});
