import assert from "node:assert/strict";
import { parseExact } from "../../core/json/exact_json.ts";
import type { Order } from "../../core/wire/order.ts";
import { readOrderRow } from "../../core/wire/read_row.ts";
import { pageOf } from "./page_of.ts";

Deno.test("pageOf() cuts sources once, and a copy of the page has them too", () => {
  const rows = ['{"order_id":"A","status":"x"}', '{"status":"y"}', "[ 1.50 ]"];
  const text = `{"data":[${rows.join(", ")},{"order_id":"B","status":"z"}]}`;
  const page = pageOf<Order>(
    { status: 200, text, body: parseExact(text), requestId: null, readAt: "" },
    "Cannot read",
    { id: "order_id", read: readOrderRow },
  );
  const sources = [rows[0], '{"order_id":"B","status":"z"}'];
  assert.deepEqual({ ...page }.sources, sources);
  assert.equal(page.sources, page.sources);
  assert.deepEqual(page.rowsWithoutId, rows.slice(1));
  assert.deepEqual(page.data.map(({ order_id }) => order_id), ["A", "B"]);
  assert.ok(JSON.stringify(page).includes('"sources":["{'));
});
