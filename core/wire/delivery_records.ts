import type { Delivery, UnansweredDelivery } from "./delivery.ts";

/**
 * Deliveries, and notes of unanswered ones, as binary records. A spool writes
 * them, and the ledger's thread reads them. All numbers are little-endian:
 *
 * ```text
 *  0  length    u32   of the whole record
 *  4  kind      u8    1 a delivery, 2 a note
 *  5  time      f64   of receipt, or when it was noticed; ms since 1970
 * 13  id        16 B  the ULID of the delivery
 * 29  body            of the delivery; of a note one byte, the answer
 * ```
 */
const RECORD = { length: 0, kind: 4, time: 5, id: 13, body: 29 } as const;

/** Bytes of a record beside its body. */
export const RECORD_BYTES = RECORD.body;

const DELIVERY = 1;
const NOTE = 2;
const ANSWERS = ["late", "503", "none"] as const;

/**
 * A delivery as a record.
 *
 * @throws {TypeError} When its id is not a ULID.
 */
export function deliveryRecord(delivery: Delivery): Uint8Array<ArrayBuffer> {
  return delivery instanceof MintedDelivery
    ? record(DELIVERY, delivery.ulid, delivery.receivedAtMs, delivery.body)
    : record(
      DELIVERY,
      delivery.id,
      Date.parse(delivery.receivedAt),
      delivery.body,
    );
}

/** A note as a record. @throws {TypeError} When its id is not a ULID. */
export function noteRecord(
  { id, noticedAt, answer }: UnansweredDelivery,
): Uint8Array<ArrayBuffer> {
  const body = Uint8Array.of(ANSWERS.indexOf(answer));
  return record(NOTE, id, Date.parse(noticedAt), body);
}

function record(
  kind: number,
  id: string | Uint8Array,
  timeMs: number,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(RECORD_BYTES + body.length);
  const view = new DataView(bytes.buffer);
  if (typeof id === "string") writeUlid(id, bytes, RECORD.id);
  else bytes.set(id, RECORD.id);
  view.setUint32(RECORD.length, bytes.length, true);
  view.setUint8(RECORD.kind, kind);
  view.setFloat64(RECORD.time, timeMs, true);
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
    const id = readUlid(records, at + RECORD.id);
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

/** Bytes of a ULID, and how many of them are its time. */
const ULID_BYTES = 16;
const TIME_BYTES = 6;
const RANDOM_BYTES = ULID_BYTES - TIME_BYTES;

/** A delivery as it is minted: its texts are made when they are read. */
export class MintedDelivery implements Delivery {
  /** The 16 bytes of its ULID. */
  readonly ulid: Uint8Array;
  /** When it arrived, ms since 1970. */
  readonly receivedAtMs: number;
  /** The exact bytes of the body. */
  readonly body: Uint8Array;

  /** A delivery of these values. */
  constructor(ulid: Uint8Array, receivedAtMs: number, body: Uint8Array) {
    this.ulid = ulid;
    this.receivedAtMs = receivedAtMs;
    this.body = body;
  }

  /** ULID minted at receipt. */
  get id(): string {
    return readUlid(this.ulid, 0);
  }

  /** When it arrived, UTC ISO 8601 with milliseconds. */
  get receivedAt(): string {
    return new Date(this.receivedAtMs).toISOString();
  }
}

/**
 * Mints deliveries, each with a greater ULID than the one before: its time never
 * goes back, and within a millisecond the random part counts up.
 */
export function deliveryMint(
  fillRandom: (bytes: Uint8Array<ArrayBuffer>) => void,
): (receivedAtMs: number, body: Uint8Array) => MintedDelivery {
  const latest = new Uint8Array(ULID_BYTES);
  const time = new DataView(latest.buffer);
  const random = latest.subarray(TIME_BYTES);
  let latestMs = -1;
  return (receivedAtMs, body) => {
    if (receivedAtMs > latestMs) {
      latestMs = receivedAtMs;
      fillRandom(random);
    } else if (isLast(random)) {
      latestMs++;
      fillRandom(random);
    } else {
      let at = RANDOM_BYTES - 1;
      while (random[at] === 0xff) random[at--] = 0;
      random[at] = (random[at] ?? 0) + 1;
    }
    time.setUint16(0, latestMs / 2 ** 32);
    time.setUint32(2, latestMs % 2 ** 32);
    return new MintedDelivery(latest.slice(), receivedAtMs, body);
  };
}

/** Whether a random part cannot count up any more. */
function isLast(random: Uint8Array): boolean {
  return random[0] === 0xff && random.every((byte) => byte === 0xff);
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 26;

/** Values of the characters by their code, and -1 for all others. */
const values = new Int8Array(128).fill(-1);
for (let value = 0; value < ALPHABET.length; value++) {
  values[ALPHABET.charCodeAt(value)] = value;
}

/**
 * Writes the 16 bytes of a ULID.
 *
 * @throws {TypeError} When the text is not a ULID.
 */
export function writeUlid(text: string, bytes: Uint8Array, at: number): void {
  let bits = 0;
  let held = 0;
  let to = at;
  let valid = text.length === LENGTH && (values[text.charCodeAt(0)] ?? -1) < 8;
  for (let index = 0; valid && index < LENGTH; index++) {
    const value = values[text.charCodeAt(index)] ?? -1;
    valid = value >= 0;
    bits = (bits << 5 | value) & 0x1fff;
    // The first character stands for three bits.
    held += index === 0 ? 3 : 5;
    if (held >= 8) {
      held -= 8;
      bytes[to++] = bits >> held;
    }
  }
  if (valid) return;
  throw new TypeError(
    `Cannot store a delivery: its id is not a ULID: ${JSON.stringify(text)}`,
  );
}

/** Reads a ULID from its 16 bytes. */
export function readUlid(bytes: Uint8Array, at: number): string {
  const first = bytes[at] ?? 0;
  let text = ALPHABET.charAt(first >> 5);
  let bits = first & 0x1f;
  let held = 5;
  for (let index = 1; text.length < LENGTH; index++) {
    while (held >= 5) {
      held -= 5;
      text += ALPHABET.charAt(bits >> held & 0x1f);
    }
    bits = (bits << 8 | (bytes[at + index] ?? 0)) & 0xfff;
    held += 8;
  }
  return text;
}
