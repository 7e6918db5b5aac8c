import assert from "node:assert/strict";
import {
  deliveryFields,
  readRecords,
} from "../../core/wire/delivery_records.ts";
import { RecordGroup } from "./_record_group.ts";
import { scanSegment } from "./scan_segment.ts";

const MARK = 0x5eed_1234;

/** Some records, and where each begins. */
function records(
  bodies: readonly Uint8Array[],
  mark = MARK,
): { readonly bytes: Uint8Array; readonly starts: readonly number[] } {
  const group = new RecordGroup(mark);
  const starts = bodies.map((body, at) => {
    const start = group.bytes.length;
    const id = String(at).padStart(26, "0");
    void group.add(deliveryFields({
      id,
      receivedAt: "2026-11-20T12:00:00.000Z",
      body,
    }));
    return start;
  });
  return { bytes: group.bytes.slice(), starts };
}

const bodies = ["", "{}", `{"type":"login"}`].map((text) =>
  new TextEncoder().encode(text)
);

/** Bodies of all records that a scan finds. */
function found(segment: Uint8Array): Uint8Array[] {
  return scanSegment(segment, MARK).runs.flatMap(({ from, to }) =>
    readRecords(segment.subarray(from, to)).map((one) =>
      "body" in one ? one.body : assert.fail("a note")
    )
  );
}

function padded(bytes: Uint8Array): Uint8Array {
  const segment = new Uint8Array(bytes.length + 100);
  segment.set(bytes);
  return segment;
}

Deno.test("scanSegment() finds every record before the zeros", () => {
  const { bytes } = records(bodies);
  const scan = scanSegment(padded(bytes), MARK);
  assert.deepEqual(scan, {
    runs: [{ from: 0, to: bytes.length }],
    records: 3,
    largeBytes: 0,
    damage: [],
  });
  assert.deepEqual(found(padded(bytes)), bodies);
});

Deno.test("scanSegment() of a segment cut anywhere keeps every whole record", () => {
  const { bytes, starts } = records(bodies);
  for (let length = 0; length <= bytes.length; length++) {
    const cut = padded(bytes).fill(0, length);
    const whole = [...starts.slice(1), bytes.length].filter((end) =>
      end <= length
    );
    const { damage, records } = scanSegment(cut, MARK);
    assert.equal(records, whole.length, `cut at ${length}`);
    assert(damage.every(({ torn }) => torn), `cut at ${length}`);
  }
});

Deno.test("scanSegment() loses one record at most to one altered byte, and does not call it torn", () => {
  const { bytes, starts } = records(bodies);
  for (let at = 0; at < bytes.length; at++) {
    const altered = padded(bytes);
    altered[at] = (altered[at] ?? 0) ^ 0x55;
    const hit = starts.findLastIndex((start) => start <= at);
    assert.deepEqual(
      found(altered),
      bodies.filter((_, index) => index !== hit),
      `altered at ${at}`,
    );
    const { damage } = scanSegment(altered, MARK);
    assert.equal(damage.length, 1);
    if (hit < bodies.length - 1) assert.equal(damage[0]?.torn, false);
  }
});

Deno.test("scanSegment() never reads a record inside a body, wherever the record around it is damaged or cut", () => {
  // A sender who knows everything but the mark.
  const forged = records(bodies, MARK + 1).bytes;
  const { bytes } = records([forged, forged]);
  for (let at = 0; at < bytes.length; at++) {
    const altered = Uint8Array.from(bytes);
    altered[at] = (altered[at] ?? 0) ^ 0xff;
    for (const segment of [altered, bytes.slice(at), bytes.slice(0, at)]) {
      for (const body of found(segment)) assert.deepEqual(body, forged);
    }
  }
});
