import assert from "node:assert/strict";
import fc from "fast-check";
import { bodyTexts } from "./holders.ts";

const texts = (body: string) => [
  ...bodyTexts(new TextEncoder().encode(body)).texts,
];

Deno.test("bodyTexts() reads whole values, also of fields that come twice, and no names", () => {
  assert.deepEqual(texts('{"a":"X1","a":"Y2","b":{"c":["\\u005a3", 4]}}'), [
    "x1",
    "y2",
    "z3",
  ]);
  assert.deepEqual(texts('"alone"'), ["alone"]);
  assert.deepEqual(texts('{"a\\"b" : "c\\\\", "d":"e:f"}'), ["c\\", "e:f"]);
  assert.deepEqual(texts(`{"a":"${"x".repeat(257)}"}`), []);
  const deep = `${"[".repeat(5000)}"ID"${"]".repeat(5000)}`;
  assert.deepEqual(texts(deep), ["id"]);
});

Deno.test("bodyTexts() reads a body with a text of many megabytes", () => {
  assert.deepEqual(texts(JSON.stringify(["\n".repeat(6 << 20), "ID"])), [
    "id",
  ]);
});

Deno.test("bodyTexts() of what is no JSON reads the parts that may be ids", () => {
  const { isJson, texts } = bodyTexts(
    new TextEncoder().encode("user=01KA, card:[c-1]"),
  );
  assert.equal(isJson, false);
  assert.ok(["01ka", "c-1"].every((id) => texts.has(id)));
});

Deno.test("bodyTexts() finds every string value of any JSON", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const found = bodyTexts(new TextEncoder().encode(JSON.stringify(value)));
    const all: unknown[] = [value];
    for (let next = all.pop(); next !== undefined; next = all.pop()) {
      if (typeof next === "object" && next !== null) {
        all.push(...Object.values(next));
      }
      if (typeof next !== "string" || next === "" || next.length > 256) {
        continue;
      }
      const written = new TextDecoder().decode(new TextEncoder().encode(next));
      if (written !== next) continue;
      const lower = next.trim().replace(
        /[A-Z]+/g,
        (one) => one.toLowerCase(),
      );
      assert.ok(found.texts.has(lower), JSON.stringify(next));
    }
  }));
});
