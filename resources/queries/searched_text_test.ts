import assert from "node:assert/strict";
import fc from "fast-check";
import { searchedText } from "./find.ts";

const HASH =
  "0x9c1f0b7de5a64bd1a0f7de0dbb1c5f3f4a2c9d8e7f60516273849a0b1c2d3e4f";

Deno.test("searchedText() takes what people paste for what it names", () => {
  const first = (text: string) => searchedText(text).candidates[0];
  for (
    const pasted of [
      ...["YBR2MP", "#YBR2MP", "order YBR2MP", "Order #YBR2MP", " YBR2MP\n"],
      ...["order no. YBR2MP", "ref: YBR2MP", '"YBR2MP"', "\u2060YBR2MP"],
    ]
  ) {
    assert.deepEqual(first(pasted), { text: "YBR2MP", end: null }, pasted);
  }
  for (
    const link of [
      `https://etherscan.io/tx/${HASH}`,
      `https://solscan.io/tx/${HASH}?cluster=devnet`,
      `etherscan.io/tx/${HASH}#eventlog`,
      `tx ${HASH}`,
    ]
  ) {
    assert.deepEqual(first(link), { text: HASH, end: null }, link);
  }
  for (
    const shortened of [
      "0x9c1f0b7de5\u2026\u20602d3e4f",
      "0x9c1f0b7de5...2d3e4f",
      "https://etherscan.io/tx/0x9c1f0b7de5\u20262d3e4f",
      "etherscan.io/tx/0x9c1f0b7de5...2d3e4f?network=main",
    ]
  ) {
    assert.deepEqual(first(shortened), { text: "0x9c1f0b7de5", end: "2d3e4f" });
  }
  assert.deepEqual(
    searchedText("order was lost").candidates.map(({ text }) => text),
    ["was lost", "order was lost"],
    "a reference may begin so",
  );
});

Deno.test("searchedText() knows e-mail addresses and phone numbers, and takes no id for one", () => {
  for (
    const contact of [
      ...["anna@example.com", "+49 170 1234567", "+1 (555) 010-9999"],
      ...["0170 1234567", "+491701234567"],
    ]
  ) {
    assert.equal(searchedText(contact).isContact, true, contact);
  }
  for (
    const id of [
      ...["YBR2MP", "20261120", "0170", HASH, "01KQSUCCESS000000000000001"],
      ...["f47ac10b-58cc-4372-a567-0e02b2c3d479", "4111-1111"],
    ]
  ) {
    assert.equal(searchedText(id).isContact, false, id);
  }
});

Deno.test("searchedText() always looks for the text itself too", () => {
  fc.assert(fc.property(fc.string({ minLength: 1 }), (text) => {
    const { candidates } = searchedText(text);
    for (const one of candidates) assert.notEqual(one.text, "");
    const plain = /^[A-Za-z0-9]+$/.test(text);
    if (plain) assert.ok(candidates.some((one) => one.text === text));
  }));
});
