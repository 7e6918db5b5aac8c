import type { Delivery, UnansweredDelivery } from "./objects.ts";

/**
 * Deliveries, and notes of unanswered ones, as binary records. A spool writes
 * them, and the ledger's thread reads them. All numbers are little-endian:
 *
 * ```text
 *  0  length    u32   of the whole record
 *  4  kind      u8    1 a delivery, 2 a note
 *  5  time      f64   of receipt, or when it was noticed; ms since 1970
 * 13  id        26 B  the ULID of the delivery
 * 39  body            of the delivery; of a note one byte, the answer
 * ```
 */
const RECORD = { length: 0, kind: 4, time: 5, id: 13, body: 39 } as const;

/** Bytes of a record beside its body. */
export const RECORD_BYTES = RECORD.body;

const DELIVERY = 1;
const NOTE = 2;
const ANSWERS = ["late", "503", "none"] as const;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** A delivery as a record. */
export function deliveryRecord(
  { id, receivedAt, body }: Delivery,
): Uint8Array<ArrayBuffer> {
  return record(DELIVERY, id, receivedAt, body);
}

/** A note as a record. */
export function noteRecord(
  { id, noticedAt, answer }: UnansweredDelivery,
): Uint8Array<ArrayBuffer> {
  return record(NOTE, id, noticedAt, Uint8Array.of(ANSWERS.indexOf(answer)));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function record(
  kind: number,
  id: string,
  time: string,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  if (!ULID.test(id)) {
    throw new TypeError(
      `Cannot store a delivery: its id is not a ULID: ${JSON.stringify(id)}`,
    );
  }
  const bytes = new Uint8Array(RECORD_BYTES + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(RECORD.length, bytes.length, true);
  view.setUint8(RECORD.kind, kind);
  view.setFloat64(RECORD.time, Date.parse(time), true);
  encoder.encodeInto(id, bytes.subarray(RECORD.id));
  bytes.set(body, RECORD.body);
  return bytes;
}

/** When the first of some records was received, ms since 1970. */
export function firstTimeOf({ buffer, byteOffset }: Uint8Array): number {
  return new DataView(buffer, byteOffset).getFloat64(RECORD.time, true);
}

/** Reads whole records in their order. */
export function readRecords(
  records: Uint8Array,
): (Delivery | UnansweredDelivery)[] {
  const { buffer, byteOffset, byteLength } = records;
  const view = new DataView(buffer, byteOffset, byteLength);
  const read: (Delivery | UnansweredDelivery)[] = [];
  for (let at = 0; at < records.length;) {
    const end = at + view.getUint32(at + RECORD.length, true);
    const text = records.subarray(at + RECORD.id, at + RECORD.body);
    const id = decoder.decode(text);
    const body = records.subarray(at + RECORD.body, end);
    const time = new Date(view.getFloat64(at + RECORD.time, true))
      .toISOString();
    read.push(
      view.getUint8(at + RECORD.kind) === DELIVERY
        ? { id, receivedAt: time, body }
        : { id, noticedAt: time, answer: ANSWERS[body[0] ?? 0] ?? "none" },
    );
    at = end;
  }
  return read;
}
