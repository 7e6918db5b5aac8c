import assert from "node:assert/strict";
import { ulid } from "ulid";
import { readUlid, writeUlid } from "./ulid_bytes.ts";

Deno.test("readUlid() reads what writeUlid() wrote", () => {
  const bytes = new Uint8Array(20);
  for (
    const text of [
      ulid(),
      ulid(0),
      "00000000000000000000000000",
      "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
    ]
  ) {
    writeUlid(text, bytes, 3);
    assert.equal(readUlid(bytes, 3), text);
  }
});

Deno.test("writeUlid() keeps the order of ULIDs", () => {
  const texts = Array.from({ length: 50 }, (_, at) => ulid(at * 1e9)).sort();
  const bytes = texts.map((text) => {
    const one = new Uint8Array(16);
    writeUlid(text, one, 0);
    return one.toHex();
  });
  assert.deepEqual(bytes, bytes.toSorted());
});

Deno.test("writeUlid() refuses what is not a ULID", () => {
  for (
    const text of [
      "",
      "1",
      "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
      "0000000000000000000000000U",
      "0000000000000000000000000é",
      "000000000000000000000000000",
    ]
  ) {
    assert.throws(() => writeUlid(text, new Uint8Array(16), 0), TypeError);
  }
});
