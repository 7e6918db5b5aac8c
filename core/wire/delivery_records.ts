import type { Delivery, UnansweredDelivery } from "./delivery.ts";
import { MintedDelivery } from "./minted_delivery.ts";
import { readUlid, writeUlid } from "./ulid_bytes.ts";

/**
 * Deliveries, and notes of unanswered ones, as binary records. A spool writes
 * them, and the ledger's thread reads them. All numbers are little-endian:
 *
 * ```text
 *  0  mark      u32   of the spool that wrote it; it finds records by it
 *  4  length    u32   of the whole record
 *  8  checksum  u32   of the spool
 * 12  kind      u8    1 a delivery, 2 a note
 * 13  time      f64   of receipt, or when it was noticed; ms since 1970
 * 21  id        16 B  the ULID of the delivery
 * 37  body            of the delivery; of a note one byte, the answer
 *     end       u8    0xa7: a record that was cut short ends in a zero
 * ```
 */
export const RECORD = {
  mark: 0,
  length: 4,
  checksum: 8,
  kind: 12,
  time: 13,
  id: 21,
  body: 37,
} as const;

/** Bytes of a record beside its body. */
export const RECORD_BYTES = RECORD.body + 1;

/** Last byte of a record. */
export const RECORD_END = 0xa7;

const DELIVERY = 1;
const NOTE = 2;
const ANSWERS = ["late", "503", "none"] as const;
const answerBytes = ANSWERS.map((_, index) => Uint8Array.of(index));

/** What a record is written from. */
export interface RecordFields {
  /** Which of the two kinds. */
  readonly kind: number;
  /** ULID of the delivery: its text, or its 16 bytes. */
  readonly id: string | Uint8Array;
  /** Time, ms since 1970. */
  readonly timeMs: number;
  /** Bytes after the head. */
  readonly body: Uint8Array;
}

/** The fields of a delivery's record. */
export function deliveryFields(delivery: Delivery): RecordFields {
  const { body } = delivery;
  if (delivery instanceof MintedDelivery) {
    const { ulid, receivedAtMs } = delivery;
    return { kind: DELIVERY, id: ulid, timeMs: receivedAtMs, body };
  }
  const { id, receivedAt } = delivery;
  return { kind: DELIVERY, id, timeMs: Date.parse(receivedAt), body };
}

/** The fields of a note's record. */
export function noteFields(note: UnansweredDelivery): RecordFields {
  return {
    kind: NOTE,
    id: note.id,
    timeMs: Date.parse(note.noticedAt),
    body: answerBytes[ANSWERS.indexOf(note.answer)] as Uint8Array,
  };
}

/**
 * Writes a record, without mark and checksum, to `bytes`, which `view` shows.
 *
 * @returns Where the next one begins.
 * @throws {TypeError} When the id is not a ULID.
 */
export function writeRecord(
  { kind, id, timeMs, body }: RecordFields,
  bytes: Uint8Array,
  view: DataView,
  at: number,
): number {
  const end = at + RECORD_BYTES + body.length;
  if (typeof id === "string") writeUlid(id, bytes, at + RECORD.id);
  else bytes.set(id, at + RECORD.id);
  view.setUint32(at + RECORD.length, end - at, true);
  view.setUint8(at + RECORD.kind, kind);
  view.setFloat64(at + RECORD.time, timeMs, true);
  bytes.set(body, at + RECORD.body);
  bytes[end - 1] = RECORD_END;
  return end;
}

/** Reads whole records, which the spool has checked before, in their order. */
export function readRecords(
  records: Uint8Array,
): (Delivery | UnansweredDelivery)[] {
  const { buffer, byteOffset, byteLength } = records;
  const view = new DataView(buffer, byteOffset, byteLength);
  const read: (Delivery | UnansweredDelivery)[] = [];
  for (let at = 0; at < records.length;) {
    const end = at + view.getUint32(at + RECORD.length, true);
    const id = readUlid(records, at + RECORD.id);
    const body = records.subarray(at + RECORD.body, end - 1);
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
