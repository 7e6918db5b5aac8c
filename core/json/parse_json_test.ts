import assert from "node:assert/strict";
import fc from "fast-check";
import { parseJson } from "./json.ts";

/** A name as JSON text in which any character may be an escape. */
const name = fc.array(
  fc.tuple(
    fc.constantFrom(
      "a",
      "b",
      "\\",
      '"',
      "1",
      "0",
      ":",
      "{",
      "é",
      "\n",
      "\ue000",
    ),
    fc.boolean(),
  ),
  { maxLength: 4 },
).map((characters) => ({
  name: characters.map(([character]) => character).join(""),
  text: `"${
    characters.map(([character, escaped]) =>
      escaped
        ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
        : JSON.stringify(character).slice(1, -1)
    ).join("")
  }"`,
}));

interface Sample {
  readonly text: string;
  readonly value: unknown;
}

const space = fc.constantFrom("", " ", "\n\t");

/** JSON texts, and what they say, put together without parsing. */
const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      { text: "1.5", value: 1.5 },
      { text: "-0.25e2", value: -25 },
      { text: "null", value: null },
      { text: "true", value: true },
      { text: '"a\\"]}:,{["', value: 'a"]}:,{[' },
    ),
    name.map(({ name, text }) => ({ text, value: name })),
    fc.tuple(space, fc.array(tie("sample"))).map(([gap, items]) => ({
      text: `[${gap}${items.map(({ text }) => text).join(`${gap},`)}${gap}]`,
      value: items.map(({ value }) => value),
    })),
    fc.tuple(space, fc.array(fc.tuple(name, tie("sample")))).map(
      ([gap, members]) => ({
        text: `{${gap}${
          members.map(([name, { text }]) => `${name.text}${gap}:${gap}${text}`)
            .join(`,${gap}`)
        }}`,
        value: Object.fromEntries(
          members.map(([{ name }, { value }]) => [name, value]),
        ),
      }),
    ),
  ),
}));

Deno.test("parseJson() reads escaped names right, whatever was parsed before", () => {
  fc.assert(
    fc.property(sample, ({ text, value }) => {
      const parsed = parseJson(text);
      assert.deepEqual(parsed, value);
      // Names in the order of the text, repeated ones in their first place.
      assert.equal(JSON.stringify(parsed), JSON.stringify(value));
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("parseJson() makes fields of names that mean something to objects", () => {
  const parsed = parseJson(
    '{"\\u005f_proto__":{"\\u0061":1},"constructor":2}',
  ) as Record<string, unknown>;
  assert.deepEqual(Object.keys(parsed), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
});

Deno.test("parseJson() bears any depth", () => {
  const depth = 200_000;
  const text = '{"\\u0061":'.repeat(depth) + "[1]" + "}".repeat(depth);
  let value = parseJson(text);
  for (let at = 0; at < depth; at++) value = (value as { a: unknown }).a;
  assert.deepEqual(value, [1]);
});

Deno.test("parseJson() refuses what JSON.parse refuses", () => {
  for (const text of ["", "{", '{"\\u00":1}', '{"\\u0061":1,}', "[1] 2"]) {
    assert.throws(() => parseJson(text), SyntaxError);
  }
});
