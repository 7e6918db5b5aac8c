import fc from "fast-check";
import assert from "node:assert/strict";
import type { Delivery } from "../../core/wire/delivery.ts";
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

Deno.test("decodeRecords() reports all bytes that are not a record", () => {
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

Deno.test("decodeRecords() never reads a record inside a body, wherever the record around it is damaged or cut", () => {
  const inner = encodeRecord({
    id: "forged",
    receivedAt: "1999-01-01T00:00:00.000Z",
    body: new TextEncoder().encode("{}"),
  });
  const outer = encodeRecord({
    id: "id-1",
    receivedAt: "2026-11-20T12:00:00.000Z",
    body: new Uint8Array([...inner, ...inner]),
  });
  assert.deepEqual(decodeRecords(outer).deliveries.map(({ id }) => id), [
    "id-1",
  ]);
  for (let at = 0; at < outer.length; at++) {
    assert.deepEqual(decodeRecords(outer.slice(0, at)).deliveries, []);
    assert.deepEqual(decodeRecords(outer.slice(at + 1)).deliveries, []);
    for (const byte of [0x00, 0x0a, 0x20]) {
      if (outer[at] === byte) continue;
      const altered = outer.with(at, byte);
      assert.deepEqual(decodeRecords(altered).deliveries, [], `${at}`);
    }
  }
});

Deno.test("decodeRecords() checks the checksum and the length of a record", () => {
  const record = new TextDecoder().decode(encodeRecord(three[0] as Delivery));
  const without = record.replace(/"bytes":\d+/, '"bytes":9');
  for (const text of [without, record.replace("id-0", "id-9")]) {
    assert.notEqual(text, record);
    assert.deepEqual(
      decodeRecords(new TextEncoder().encode(text)).deliveries,
      [],
    );
  }
});
