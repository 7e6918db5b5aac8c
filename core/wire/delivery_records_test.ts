import assert from "node:assert/strict";
import { concatenated } from "../bytes.ts";
import {
  deliveryRecord,
  noteRecord,
  readRecords,
  RECORD_BYTES,
} from "./delivery_records.ts";

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

Deno.test("deliveryRecord() refuses an id that is not a ULID", () => {
  for (
    const id of [
      "",
      "1",
      "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
      "0000000000000000000000000U",
      "0000000000000000000000000é",
      "000000000000000000000000000",
    ]
  ) {
    const receivedAt = "2026-11-20T12:00:00.123Z";
    const body = new Uint8Array();
    assert.throws(() => deliveryRecord({ id, receivedAt, body }), TypeError);
  }
});
