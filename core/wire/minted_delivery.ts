import type { Delivery } from "./delivery.ts";
import { readUlid } from "./ulid_bytes.ts";

/** Bytes of a ULID, and how many of them are its time. */
const ULID_BYTES = 16;
const TIME_BYTES = 6;
const RANDOM_BYTES = ULID_BYTES - TIME_BYTES;

/** A delivery as it is minted: its texts are made when somebody reads them. */
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
 *
 * @param fillRandom Fills bytes with fresh random ones.
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
