import fc from "fast-check";
import assert from "node:assert/strict";
import type { Delivery } from "./delivery.ts";
import { decodeRecords, encodeRecord } from "./_spool_records.ts";

const delivery: fc.Arbitrary<Delivery> = fc.record({
  id: fc.string({ maxLength: 30 }),
  receivedAt: fc.string({ maxLength: 24 }),
  body: fc.uint8Array({ maxLength: 60 }),
}, { noNullPrototype: true });

function segmentOf(deliveries: readonly Delivery[]): {
  bytes: Uint8Array;
  ends: number[];
} {
  const records = deliveries.map(encodeRecord);
  const ends: number[] = [];
  let end = 0;
  for (const record of records) ends.push(end += record.length);
  const bytes = new Uint8Array(end);
  records.forEach((record, index) => bytes.set(record, ends[index - 1] ?? 0));
  return { bytes, ends };
}

const three: Delivery[] = ["one", "two, longer", ""].map((text, index) => ({
  id: `id-${index}`,
  receivedAt: "2026-11-20T12:00:00.000Z",
  body: new TextEncoder().encode(text),
}));

Deno.test("decodeRecords() reads what encodeRecord() wrote", () => {
  fc.assert(fc.property(fc.array(delivery), (deliveries) => {
    const { bytes } = segmentOf(deliveries);
    assert.deepEqual(decodeRecords(bytes), { deliveries, damage: [] });
  }));
});

Deno.test("decodeRecords() of a segment cut anywhere keeps every whole record", () => {
  const { bytes, ends } = segmentOf(three);
  for (let length = 0; length <= bytes.length; length++) {
    const whole = ends.filter((end) => end <= length).length;
    const { deliveries, damage } = decodeRecords(bytes.slice(0, length));
    assert.deepEqual(deliveries, three.slice(0, whole), `cut at ${length}`);
    const offset = ends[whole - 1] ?? 0;
    assert.deepEqual(
      damage,
      offset === length ? [] : [{ offset, bytes: length - offset, torn: true }],
      `cut at ${length}`,
    );
  }
});

Deno.test("decodeRecords() loses one record at most to one altered byte", () => {
  const { bytes, ends } = segmentOf(three);
  for (let at = 0; at < bytes.length; at++) {
    const altered = bytes.slice();
    altered[at] = (altered[at] ?? 0) ^ 0x41;
    const hit = ends.findIndex((end) => at < end);
    const { deliveries, damage } = decodeRecords(altered);
    assert.deepEqual(
      deliveries,
      three.filter((_, index) => index !== hit),
      `altered at ${at}`,
    );
    assert.equal(damage.length, 1);
    assert.equal(damage[0]?.offset, ends[hit - 1] ?? 0);
  }
});

Deno.test("decodeRecords() takes no other bytes for a record, and reports them all", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => {
    const { deliveries, damage } = decodeRecords(bytes);
    assert.deepEqual(deliveries, []);
    assert.equal(
      damage.reduce((sum, one) => sum + one.bytes, 0),
      bytes.length,
    );
  }));
  const zeros = decodeRecords(new Uint8Array(4096));
  assert.deepEqual(zeros.damage, [{ offset: 0, bytes: 4096, torn: false }]);
});

Deno.test("encodeRecord() refuses an id that does not fit", () => {
  assert.throws(
    () =>
      encodeRecord({
        id: "x".repeat(256),
        receivedAt: "",
        body: new Uint8Array(),
      }),
    RangeError,
  );
});
