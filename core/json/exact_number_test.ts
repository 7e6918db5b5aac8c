import assert from "node:assert/strict";
import fc from "fast-check";
import { ExactNumber, parseWithExactNumbers } from "./json.ts";

Deno.test("parseWithExactNumbers() reads back the digits that JSON.stringify() writes", () => {
  const digits = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.nat(999))
    .map(([whole, fraction]) => `${whole}.${fraction}`);
  fc.assert(fc.property(digits, (text) => {
    const json = JSON.stringify({ a: [new ExactNumber(text), text] });
    assert.equal(json, `{"a":[${text},"${text}"]}`);
    assert.deepEqual(parseWithExactNumbers(json), {
      a: [new ExactNumber(text), text],
    });
  }));
});
