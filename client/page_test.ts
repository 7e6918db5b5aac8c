import assert from "node:assert/strict";
import { parseExact } from "../core/json/json.ts";
import type { Order } from "../core/wire/objects.ts";
import { readOrderRow } from "../core/wire/fields.ts";
import { dataSources, pageOf } from "./page.ts";
import fc from "fast-check";

Deno.test("pageOf() cuts sources once, and a copy of the page has them too", () => {
  const rows = ['{"order_id":"A","status":"x"}', '{"status":"y"}', "[ 1.50 ]"];
  const text = `{"data":[${rows.join(", ")},{"order_id":"B","status":"z"}]}`;
  const page = pageOf<Order>(
    { status: 200, text, body: parseExact(text), requestId: null, readAt: "" },
    "Cannot read",
    { id: "order_id", read: readOrderRow },
    0,
  );
  const sources = [rows[0], '{"order_id":"B","status":"z"}'];
  assert.deepEqual({ ...page }.sources, sources);
  assert.equal(page.sources, page.sources);
  assert.deepEqual(page.rowsWithoutId, rows.slice(1));
  assert.deepEqual(page.data.map(({ order_id }) => order_id), ["A", "B"]);
  assert.ok(JSON.stringify(page).includes('"sources":["{'));
});

const gap = fc.constantFrom("", " ", "\n\t", "\r\n  ");
const item = fc.tuple(fc.json({ maxDepth: 3 }), fc.boolean()).map((
  [json, wide],
) => wide ? JSON.stringify(JSON.parse(json), null, 2) : json);

Deno.test("dataSources() gives the exact text of each element", () => {
  const member = fc.tuple(
    fc.oneof(fc.string(), fc.constantFrom('"data"', "\\", "data ")).filter((
      key,
    ) => key !== "data").map((key) => JSON.stringify(key)),
    item,
  ).map(([key, value]) => `${key}:${value}`);
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 5 }),
      fc.array(member, { maxLength: 3 }),
      fc.array(member, { maxLength: 3 }),
      gap,
      (items, before, after, space) => {
        const list = `[${space}${items.join(`${space},${space}`)}${space}]`;
        const body = [...before, `"data"${space}:${space}${list}`, ...after]
          .join(`${space},${space}`);
        const text = `${space}{${space}${body}${space}}${space}`;
        JSON.parse(text);
        assert.deepEqual(dataSources(text), items);
      },
    ),
    { numRuns: 1000 },
  );
});

Deno.test("dataSources() cuts bare values without the space behind them", () => {
  assert.deepEqual(
    dataSources('{"data":[1.50 , "a]\\"," ,null\n,{"b":[{}]} ]}'),
    ["1.50", '"a]\\","', "null", '{"b":[{}]}'],
  );
});

Deno.test("dataSources() follows JSON.parse: escaped names count, the last one wins", () => {
  assert.deepEqual(dataSources('{"d\\u0061ta":[1]}'), ["1"]);
  assert.deepEqual(dataSources('{"data":[1],"data":[2,3]}'), ["2", "3"]);
  assert.deepEqual(dataSources('{"x":{"data":[1]},"data":[]}'), []);
});

Deno.test("dataSources() gives nothing where there is no data array", () => {
  for (const text of ["", "[]", "1", "{}", '{"data":{}}', '{"data":"[1]"}']) {
    assert.deepEqual(dataSources(text), [], text);
  }
});
