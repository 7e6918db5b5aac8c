import assert from "node:assert/strict";
// @ts-types="@types/big.js"
import Big from "big.js";
import fc from "fast-check";
import {
  ExactNumber,
  parseExact,
  plainDecimal,
  requireExactJson,
} from "./json.ts";
import { isThorough } from "../../tests/kit/thorough.ts";

/**
 * The yardstick: the engine decides what is JSON, and one regular expression
 * over strings and numbers quotes the numbers. (The engine's own reviver loses
 * the source text of some members, and so cannot be it.)
 */
function parseByTokens(text: string): unknown {
  JSON.parse(text);
  const token =
    /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  return JSON.parse(
    text.replace(
      token,
      (found) => found.startsWith('"') ? found : `"${plainDecimal(found)}"`,
    ),
  );
}

const digits = fc.stringMatching(/^[0-9]{0,25}$/);
const number = fc.tuple(
  fc.constantFrom("", "-"),
  fc.stringMatching(/^(?:0|[1-9][0-9]{0,25})$/),
  digits.map((fraction) => fraction === "" ? "" : `.${fraction}`),
  fc.constantFrom("", "e3", "E-8", "e+0", "e21", "E-30"),
).map((parts) => parts.join(""));
const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom('"', "\\", '\\"', '\\\\"', "1,2", ':3,"4":', "\ud800", ""),
).map((value) => JSON.stringify(value));

/**
 * Names without escapes, which the yardstick cannot be trusted with: see
 * `json.ts`.
 */
const name = fc.string({ unit: "grapheme", maxLength: 6 }).filter((value) =>
  JSON.stringify(value) === `"${value}"`
).map((value) => JSON.stringify(value));

/** JSON texts with exact numbers, spaces and awkward strings anywhere. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    number,
    text,
    fc.constantFrom("true", "false", "null"),
    fc.tuple(
      fc.array(fc.tuple(space, tie("json"), space).map((p) => p.join(""))),
      space,
    )
      .map(([items, gap]) => `[${gap}${items.join(",")}]`),
    fc.tuple(
      fc.array(
        fc.tuple(space, name, space, tie("json"), space)
          .map(([a, key, b, value, c]) => (at: number) =>
            // Engines differ over names that repeat, so none does.
            `${a}"${at}${key.slice(1)}${b}:${value}${c}`
          ),
      ),
      space,
    ).map(([members, gap]) =>
      `{${gap}${members.map((member, at) => member(at)).join(",")}}`
    ),
  ),
}));

/** Each exact number is the text of the float that plain parsing gives. */
function assertSameNumbers(exact: unknown, plain: unknown): void {
  if (typeof plain === "number") assert.equal(Number(exact), plain);
  else if (typeof plain === "object" && plain !== null) {
    assert.deepEqual(Object.keys(exact as object), Object.keys(plain));
    for (const [key, value] of Object.entries(plain)) {
      assertSameNumbers(
        Object.entries(exact as object).find(([k]) => k === key)?.[1],
        value,
      );
    }
  } else assert.deepEqual(exact, plain);
}

Deno.test("parseExact() gives what the engine gives, number by number", () => {
  fc.assert(
    fc.property(json, (source) => {
      const exact = parseExact(source);
      assert.deepEqual(exact, parseByTokens(source));
      assertSameNumbers(exact, JSON.parse(source));
    }),
    { numRuns: 1000 },
  );
});

/**
 * Texts as programs write them, without spaces, in which names repeat, come in
 * another order than the engine keeps, and texts look like numbers of a name.
 */
const { written } = fc.letrec<{ written: string }>((tie) => ({
  written: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: fc.constantFrom("1", "1.0", "1.00", "10e-1") },
    { weight: 2, arbitrary: fc.constantFrom("-0", "12", "1e999", "0.5") },
    fc.constantFrom(
      '"1"',
      '""',
      '":1"',
      '"a"',
      '":1,"',
      '"11111111"',
      '"\\\\"',
    ),
    fc.constantFrom("true", "false", "null", " 1", "1 ", "[]", "{}"),
    fc.array(tie("written"), { maxLength: 3 }).map((all) => `[${all}]`),
    {
      weight: 6,
      arbitrary: fc.array(
        fc.tuple(
          fc.constantFrom(
            "a",
            "b",
            "ba",
            "1",
            "0",
            "a1",
            "",
            "é",
            "-",
            ",",
            "__proto__",
          ),
          tie("written"),
        ).map(([name, value]) => `"${name}":${value}`),
        { maxLength: 4 },
      ).map((members) => `{${members}}`),
    },
  ),
}));

Deno.test("parseExact() reads what is written without spaces as it reads everything else", () => {
  fc.assert(
    fc.property(written, (source) => {
      assert.equal(
        JSON.stringify(parseExact(source)),
        JSON.stringify(parseByTokens(source)),
      );
    }),
    { numRuns: 20_000 },
  );
});

Deno.test("parseExact() mistakes no number for another of a numbered name's object", () => {
  // The engine puts the name 0 first, and then both ends are the same.
  assert.deepEqual(
    parseExact('{"wwwwwa":1.0,"t":"xx","0":{"a":1.00,"q":"x"}}'),
    { wwwwwa: "1.0", t: "xx", 0: { a: "1.00", q: "x" } },
  );
});

Deno.test("parseExact() refuses exactly the texts that JSON.parse refuses", () => {
  const snippet = fc.constantFrom(
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "-",
    ".",
    "e",
    "E",
    "+",
    "0",
    "1",
    "01",
    "1.",
    ".5",
    "1e",
    "-0",
    " ",
    "\n",
    "\u00a0",
    "true",
    "nul",
    '"a"',
    '"\\"',
    '{"a":1}',
    "[1,2]",
    "{1:2}",
    "\u0000",
    "٣",
  );
  const broken = fc.oneof(
    fc.array(snippet, { maxLength: 8 }).map((parts) => parts.join("")),
    fc.tuple(json, fc.nat(), snippet).map(([source, at, extra]) => {
      const cut = at % (source.length + 1);
      return source.slice(0, cut) + extra + source.slice(cut);
    }),
    fc.tuple(json, fc.nat()).map(([source, at]) =>
      source.slice(0, at % (source.length + 1))
    ),
  );
  const outcome = (parse: (text: string) => unknown, source: string) => {
    try {
      return { value: parse(source) };
    } catch (error) {
      return { error: String(error) };
    }
  };
  fc.assert(
    fc.property(broken, (source) => {
      assert.deepEqual(
        outcome(parseExact, source),
        outcome(parseByTokens, source),
      );
    }),
    { numRuns: 3000 },
  );
});

Deno.test("parseExact() keeps amounts in arrays, after space, with 18 decimals", () => {
  assert.deepEqual(
    parseExact('{"a" :\n [ 0.1,\t1.000000000000000001 ],"b":-1e-18,"c":1.50}'),
    {
      a: ["0.1", "1.000000000000000001"],
      b: "-0.000000000000000001",
      c: "1.50",
    },
  );
  assert.equal(parseExact("9007199254740993"), "9007199254740993");
  assert.equal(parseExact('"12,3:[4]"'), "12,3:[4]");
});

Deno.test("parseExact() finds the end of names and strings with escapes", () => {
  assert.deepEqual(
    parseExact(String.raw`{"a\"":1,"b\\":["\\",2,"\\\"3"],"c\u0022":4}`),
    { 'a"': "1", "b\\": ["\\", "2", '\\"3'], 'c"': "4" },
  );
});

Deno.test("parseExact() keeps a member named __proto__ a member", () => {
  const value = parseExact('{"__proto__": {"polluted": 1}}');
  assert.equal(Object.hasOwn(value as object, "__proto__"), true);
  assert.equal((value as { polluted?: unknown }).polluted, undefined);
});

Deno.test("plainDecimal() keeps the value and leaves no exponent", () => {
  fc.assert(fc.property(number, (source) => {
    const plain = plainDecimal(source);
    assert.match(plain, /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/);
    assert.ok(new Big(plain).eq(new Big(source)), `${source} -> ${plain}`);
  }));
});

Deno.test("plainDecimal() keeps the text where writing it out would be huge", () => {
  assert.equal(plainDecimal("1e40").length, 41);
  assert.equal(plainDecimal("1e41"), "1e41");
  assert.equal(
    plainDecimal("1e-99999999999999999999"),
    "1e-99999999999999999999",
  );
});

Deno.test("parseExact() gives no more text than in proportion to what it is given", () => {
  for (const number of ["1e999", "1e40", "1e-40", "-1.5E-40", "7", "0.5"]) {
    const text = `[${`${number},`.repeat(10_000)}0]`;
    assert.ok(JSON.stringify(parseExact(text)).length < 10 * text.length);
  }
});

Deno.test("parseExact() reads the largest answer in bounded memory, whatever it holds", async () => {
  const units = isThorough
    ? ["1e999,", "1e-40,", "1,", '{"\\u0061":1},']
    : ["1e999,"];
  const program = `
    import { parseExact } from "${import.meta.resolve("./json.ts")}";
    const size = 4 * 1024 * 1024;
    for (const unit of ${JSON.stringify(units)}) {
      parseExact("[" + unit.repeat(size / unit.length) + "1]");
    }
    parseExact("[".repeat(size / 2) + "]".repeat(size / 2));
  `;
  const { code, stderr } = await new Deno.Command("deno", {
    args: ["eval", "--no-lock", "--v8-flags=--max-old-space-size=256", program],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
});

Deno.test("parseExact() looks at each character a few times, whatever the text", () => {
  const long = 2_000_000;
  const texts = [
    '"' + '\\"'.repeat(long),
    '"' + '\\"'.repeat(long) + "\\",
    '"' + '\\"'.repeat(long) + "\\\n",
    "1".repeat(long) + ":",
    "-".repeat(long),
    "1e".repeat(long),
    "1" + " ".repeat(long) + "1",
    '"a" '.repeat(long),
  ];
  for (const text of texts) {
    const before = performance.now();
    assert.throws(() => parseExact(text), SyntaxError);
    assert.throws(() => parseExact(text, 10), /SyntaxError|JSON/);
    assert.ok(performance.now() - before < 30_000, text.slice(0, 20));
  }
});

Deno.test("JSON.stringify() of exact numbers and parseExact() round-trip every decimal", () => {
  const decimal = number.filter((source) => !/e/i.test(source));
  fc.assert(fc.property(fc.array(decimal), fc.string(), (amounts, key) => {
    const sent = { [key]: amounts.map((amount) => new ExactNumber(amount)) };
    const written = JSON.stringify(sent);
    assert.deepEqual(parseExact(written), { [key]: amounts });
    assert.ok(
      !amounts.some((amount) =>
        written.includes(`"${amount}"`) && key !== amount
      ),
    );
  }));
});

Deno.test("ExactNumber() refuses text that is not a JSON number", () => {
  for (
    const wrong of [
      "",
      " 1",
      "1 ",
      "01",
      ".5",
      "1.",
      "+1",
      "1,5",
      "NaN",
      "0x1",
      "1e",
      "--1",
    ]
  ) {
    assert.throws(() => new ExactNumber(wrong), TypeError, wrong);
  }
});

Deno.test("requireExactJson() and ExactNumber say what the runtime lacks", () => {
  const holder = JSON as { rawJSON?: unknown };
  const rawJSON = holder.rawJSON;
  try {
    delete holder.rawJSON;
    assert.throws(() => JSON.stringify(new ExactNumber("1")), /JSON\.rawJSON/);
    assert.throws(() => requireExactJson("start"), {
      name: "TypeError",
      message: /^Cannot start: .*; use Deno, Bun, or Node 22\.22\.3 or later$/,
    });
  } finally {
    holder.rawJSON = rawJSON;
  }
  requireExactJson("start");
});
