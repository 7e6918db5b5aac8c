import assert from "node:assert/strict";
import { soonTotals } from "./order_table.ts";

Deno.test("soonTotals() has a sum fetched that is worked out, and that of very many orders only where somebody asks", () => {
  const path = "/orders/totals?status=failed";
  const later = String(soonTotals("later", path));
  assert.match(later, /data-later="\/orders\/totals\?status=failed"/);
  const many = String(soonTotals("many", path));
  assert.doesNotMatch(many, /data-later/);
  assert.match(many, /Very many orders match, so they are not added up here/);
  assert.match(
    many,
    /<a href="\/orders\/totals\?status=failed">Count and add up all of them<\/a>/,
  );
  const known = String(soonTotals([], path));
  assert.doesNotMatch(known, /href|data-later/);
});
