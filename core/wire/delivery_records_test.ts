import assert from "node:assert/strict";
import {
  deliveryFields,
  noteFields,
  readRecords,
  RECORD_BYTES,
  writeRecord,
} from "./delivery_records.ts";

Deno.test("readRecords() reads what writeRecord() wrote, in its order", () => {
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
  const bytes = new Uint8Array(3 * RECORD_BYTES + 5);
  const view = new DataView(bytes.buffer);
  let end = writeRecord(deliveryFields(delivery), bytes, view, 0);
  end = writeRecord(noteFields(note), bytes, view, end);
  end = writeRecord(deliveryFields(empty), bytes, view, end);
  assert.equal(end, bytes.length);
  assert.deepEqual(readRecords(bytes), [delivery, note, empty]);
  assert.deepEqual(readRecords(bytes.subarray(RECORD_BYTES + 4)), [
    note,
    empty,
  ]);
});
