import { crc32 } from "node:zlib";
import type { Delivery } from "./delivery.ts";

/** Bytes of a segment that are no record. */
export interface Damage {
  /** Where they begin. */
  readonly offset: number;
  /** How many there are. */
  readonly bytes: number;
  /** Whether it is the beginning of a record whose writing was cut short. */
  readonly torn: boolean;
}

const MAGIC = Uint8Array.of(0x52, 0x4b, 0x44, 0x31); // "RKD1"
const HEADER_BYTES = 12;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Encodes a delivery as one record: magic, payload length and CRC-32 (both
 * little-endian), then id and time, each after its length, then the body.
 */
export function encodeRecord(delivery: Delivery): Uint8Array<ArrayBuffer> {
  const id = encoder.encode(delivery.id);
  const time = encoder.encode(delivery.receivedAt);
  if (id.length > 255 || time.length > 255) {
    throw new RangeError(
      `Cannot spool delivery: id has ${id.length} and receivedAt ` +
        `${time.length} bytes, of 255 allowed`,
    );
  }
  const payloadBytes = 2 + id.length + time.length + delivery.body.length;
  const record = new Uint8Array(HEADER_BYTES + payloadBytes);
  let at = HEADER_BYTES;
  record[at++] = id.length;
  record.set(id, at);
  at += id.length;
  record[at++] = time.length;
  record.set(time, at);
  record.set(delivery.body, at + time.length);
  record.set(MAGIC);
  const view = new DataView(record.buffer);
  view.setUint32(4, payloadBytes, true);
  view.setUint32(8, crc32(record.subarray(HEADER_BYTES)), true);
  return record;
}

/** Reads every record of a segment, whatever else is in it. */
export function decodeRecords(
  segment: Uint8Array,
): { deliveries: Delivery[]; damage: Damage[] } {
  const deliveries: Delivery[] = [];
  const damage: Damage[] = [];
  let offset = 0;
  while (offset < segment.length) {
    const found = decodeRecord(segment, offset);
    if (found !== null) {
      deliveries.push(found.delivery);
      offset = found.end;
      continue;
    }
    let next = offset + 1;
    while (next < segment.length && decodeRecord(segment, next) === null) {
      next++;
    }
    const torn = next === segment.length && isCutShort(segment, offset);
    damage.push({ offset, bytes: next - offset, torn });
    offset = next;
  }
  return { deliveries, damage };
}

function decodeRecord(
  segment: Uint8Array,
  offset: number,
): { delivery: Delivery; end: number } | null {
  if (segment[offset] !== MAGIC[0] || !hasMagic(segment, offset)) return null;
  const start = offset + HEADER_BYTES;
  if (start > segment.length) return null;
  const view = new DataView(segment.buffer, segment.byteOffset + offset);
  const end = start + view.getUint32(4, true);
  if (end > segment.length) return null;
  const payload = segment.subarray(start, end);
  if (crc32(payload) !== view.getUint32(8, true)) return null;
  const idEnd = 1 + (payload[0] ?? 0);
  const timeEnd = idEnd + 1 + (payload[idEnd] ?? 0);
  if (timeEnd > payload.length) return null;
  return {
    delivery: {
      id: decoder.decode(payload.subarray(1, idEnd)),
      receivedAt: decoder.decode(payload.subarray(idEnd + 1, timeEnd)),
      body: payload.slice(timeEnd),
    },
    end,
  };
}

function hasMagic(segment: Uint8Array, offset: number): boolean {
  return MAGIC.every((byte, index) => segment[offset + index] === byte);
}

function isCutShort(segment: Uint8Array, offset: number): boolean {
  const rest = segment.length - offset;
  if (rest < HEADER_BYTES) {
    return MAGIC.every((byte, index) =>
      index >= rest || segment[offset + index] === byte
    );
  }
  const view = new DataView(segment.buffer, segment.byteOffset + offset);
  return hasMagic(segment, offset) &&
    view.getUint32(4, true) > rest - HEADER_BYTES;
}
