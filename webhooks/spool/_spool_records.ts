import { crc32 } from "node:zlib";
import type { Delivery } from "../../core/wire/delivery.ts";

/** Bytes of a segment that are not a record. */
export interface Damage {
  /** Where they begin. */
  readonly offset: number;
  /** How many there are. */
  readonly bytes: number;
  /** Whether it is the beginning of a record whose writing was cut short. */
  readonly torn: boolean;
}

/** The part of a record before the body. */
interface Header {
  readonly id: string;
  readonly receivedAt: string;
  readonly bytes: number;
}

const NEWLINE = 0x0a;
const MAGIC = "rkd2";
const START = new TextEncoder().encode(`\n${MAGIC} `);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Encodes a delivery as one record, a line of text between two newlines:
 *
 * ```text
 * rkd2 {"id":"01JD…","receivedAt":"2026-…Z","bytes":17} eyJ0eXBlIjoi… 5f3a09c1
 * ```
 *
 * magic, header as JSON, body as base64, CRC-32 of all before the last space.
 * Neither JSON nor base64 can hold a newline. So nothing in a body, which anyone
 * can write, looks like the beginning of a record, even when the record around
 * it is damaged. With two newlines each, one damaged byte costs one record.
 */
export function encodeRecord(delivery: Delivery): Uint8Array<ArrayBuffer> {
  const { id, receivedAt, body } = delivery;
  const header: Header = { id, receivedAt, bytes: body.length };
  const line = `${MAGIC} ${JSON.stringify(header)} ${body.toBase64()}`;
  return encoder.encode(`\n${line} ${checksum(line)}\n`);
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
    const next = nextRecord(segment, offset + 1);
    const torn = next === segment.length && isCutShort(segment, offset);
    damage.push({ offset, bytes: next - offset, torn });
    offset = next;
  }
  return { deliveries, damage };
}

/** Where the next record begins, or the end of the segment. */
function nextRecord(segment: Uint8Array, from: number): number {
  let at = segment.indexOf(NEWLINE, from);
  while (at !== -1 && decodeRecord(segment, at) === null) {
    at = segment.indexOf(NEWLINE, at + 1);
  }
  return at === -1 ? segment.length : at;
}

function decodeRecord(
  segment: Uint8Array,
  offset: number,
): { delivery: Delivery; end: number } | null {
  if (segment[offset] !== NEWLINE) return null;
  const end = segment.indexOf(NEWLINE, offset + 1);
  if (end === -1) return null;
  const delivery = decodeLine(segment.subarray(offset + 1, end));
  return delivery === null ? null : { delivery, end: end + 1 };
}

function decodeLine(bytes: Uint8Array): Delivery | null {
  try {
    const line = decoder.decode(bytes);
    const bodyEnd = line.lastIndexOf(" ");
    const bodyStart = line.lastIndexOf(" ", bodyEnd - 1) + 1;
    const checked = line.slice(0, bodyEnd);
    if (!line.startsWith(`${MAGIC} `)) return null;
    if (checksum(checked) !== line.slice(bodyEnd + 1)) return null;
    const header: Header = JSON.parse(
      line.slice(MAGIC.length + 1, bodyStart - 1),
    );
    const body = Uint8Array.fromBase64(line.slice(bodyStart, bodyEnd));
    if (body.length !== header.bytes) return null;
    return { id: header.id, receivedAt: header.receivedAt, body };
  } catch {
    return null; // Not text, or not a record.
  }
}

function isCutShort(segment: Uint8Array, offset: number): boolean {
  const rest = segment.subarray(offset, offset + START.length);
  return rest.every((byte, index) => byte === START[index]) &&
    segment.indexOf(NEWLINE, offset + 1) === -1;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
