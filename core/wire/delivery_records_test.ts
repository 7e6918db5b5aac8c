import assert from "node:assert/strict";
import { concatenated } from "../bytes.ts";
import {
  deliveryMint,
  deliveryRecord,
  noteRecord,
  readRecords,
  readUlid,
  RECORD_BYTES,
  writeUlid,
} from "./delivery_records.ts";
import { decodeTime, isValid, ulid } from "ulid";

Deno.test("readRecords() reads what deliveryRecord() and noteRecord() made, in its order", () => {
  const delivery = {
    id: "01JD3Q5XK6T0V0QK3WZ5R5Q0ZV",
    receivedAt: "2026-11-20T12:00:00.123Z",
    body: Uint8Array.of(0, 0xff, 0xa7, 7),
  };
  const empty = { ...delivery, body: new Uint8Array() };
  const note = {
    id: delivery.id,
    noticedAt: "2026-11-20T12:00:05.000Z",
    answer: "503",
  } as const;
  const bytes = concatenated([
    deliveryRecord(delivery),
    noteRecord(note),
    deliveryRecord(empty),
  ]);
  assert.equal(bytes.length, 3 * RECORD_BYTES + 5);
  assert.deepEqual(readRecords(bytes), [delivery, note, empty]);
  assert.deepEqual(readRecords(bytes.subarray(RECORD_BYTES + 4)), [
    note,
    empty,
  ]);
});

const body = new Uint8Array();

Deno.test("deliveryMint() mints ULIDs of the time of receipt, each greater than the one before", () => {
  const mint = deliveryMint((bytes) => crypto.getRandomValues(bytes));
  const timesMs = [1_000, 1_000, 999, 2 ** 33 + 7, 2 ** 33 + 7, Date.now()];
  const minted = timesMs.map((ms) => mint(ms, body));
  const ids = minted.map(({ id }) => id);
  assert.deepEqual(ids, [...new Set(ids)].toSorted());
  assert(ids.every(isValid));
  assert.deepEqual(ids.map((id) => decodeTime(id)), [
    1_000,
    1_000,
    1_000,
    ...timesMs.slice(3),
  ]);
  assert.deepEqual(
    minted.slice(0, 3).map(({ receivedAt }) => receivedAt),
    [1_000, 1_000, 999].map((ms) => new Date(ms).toISOString()),
  );
});

Deno.test("deliveryMint() goes on in the next millisecond when the random part is used up", () => {
  const mint = deliveryMint((bytes) => bytes.fill(0xff));
  const [first, second] = [mint(5, body), mint(5, body)];
  assert.equal(decodeTime(first.id), 5);
  assert.equal(decodeTime(second.id), 6);
  const carry = deliveryMint((bytes) => bytes.fill(0xff, 1));
  const [low, high] = [carry(5, body), carry(5, body)];
  assert.equal(low.id.slice(-1), "Z");
  assert.equal(high.id.slice(-1), "0");
  assert(high.id > low.id);
});

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
