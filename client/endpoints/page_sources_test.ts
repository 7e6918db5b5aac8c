import assert from "node:assert/strict";
import fc from "fast-check";
import { dataSources } from "./page_sources.ts";

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
