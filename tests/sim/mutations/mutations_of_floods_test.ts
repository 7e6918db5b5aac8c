import assert from "node:assert/strict";
import { floodLedger, tooLate } from "../long_flood.ts";
import { altering } from "../world/broken_ports.ts";

Deno.test("tooLate() notices that invented ids get all requests", async () => {
  const report = await floodLedger({
    ids: 9000,
    driver: altering((statement) => {
      const { sql } = statement;
      if (/q\.shown = 0\s+AND q\.named_at/.test(sql)) {
        return { ...statement, sql: `SELECT * FROM (${sql}) LIMIT 0` };
      }
      // Whoever was named first is asked for first, known or not, urgent or not.
      return /q\.shown = 1\s+AND q\.named_at/.test(sql)
        ? {
          ...statement,
          sql: sql.replaceAll(
            /q\.shown = 1\s+AND q\.named_at IS NOT NULL AND q\.urgency = (\d)/g,
            (_, urgency) =>
              urgency === "0" ? "q.named_at IS NOT NULL" : "false",
          ),
        }
        : statement;
    }),
  });
  assert.notDeepEqual(tooLate(report), []);
});
