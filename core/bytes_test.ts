import assert from "node:assert/strict";
import fc from "fast-check";
import { utf8Prefix } from "./bytes.ts";

const bytes = (text: string): number => new TextEncoder().encode(text).length;

Deno.test("utf8Prefix() gives the longest beginning of whole characters that fits", () => {
  fc.assert(fc.property(
    fc.string({
      unit: fc.constantFrom("a", "é", "界", "😀"),
      maxLength: 40,
    }),
    fc.nat(100),
    (text, most) => {
      const prefix = utf8Prefix(text, most);
      assert.ok(text.startsWith(prefix) && bytes(prefix) <= most);
      const [next] = text.slice(prefix.length);
      if (next !== undefined) assert.ok(bytes(prefix + next) > most);
    },
  ));
});

Deno.test("utf8Prefix() counts a lone surrogate as three bytes, and cuts texts longer than any before", () => {
  assert.equal(utf8Prefix("a\ud800b", 4), "a\ud800");
  assert.equal(utf8Prefix("a\ud800b", 3), "a");
  assert.equal(utf8Prefix("é".repeat(9000), 9001).length, 4500);
});
