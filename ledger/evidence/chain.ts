import { createHash } from "node:crypto";
import type { RecordedEvent } from "../event/event.ts";

/** What the evidence chain begins with: no two ledgers share a beginning. */
export interface ChainOrigin {
  /** Environment stamped on the ledger. */
  readonly environment: string;
  /** Identity of the ledger, 32 hex digits. */
  readonly ledgerId: string;
}

/** The parts of an event that can be erased. */
export interface Erasable {
  /** The exact bytes received. */
  readonly body: Uint8Array;
  /** Digest, lower-case hex. */
  readonly digest: string;
  /** Sixteen random bytes. */
  readonly salt: Uint8Array;
}

/**
 * Hash before the first event.
 *
 * @param origin The ledger.
 * @returns 32 bytes.
 *
 * @example Begin a chain
 * ```ts
 * import { genesisHash } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const hash = genesisHash({
 *   environment: "sandbox",
 *   ledgerId: "00000000000000000000000000000000",
 * });
 * assert.equal(hash.byteLength, 32);
 * ```
 */
export function genesisHash(origin: ChainOrigin): Uint8Array {
  return sha256("rampkit/genesis/1", [
    origin.environment,
    origin.ledgerId,
  ]);
}

/**
 * Stands for an event's body, digest and salt in the chain. The salt makes it
 * impossible to guess an erased body from its commitment.
 *
 * @param event Body, digest and salt.
 * @returns 32 bytes: SHA-256 over the three, each with its length before it.
 *
 * @example Commit to a body
 * ```ts
 * import { commitmentOf } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const commitment = commitmentOf({
 *   body: new TextEncoder().encode("{}"),
 *   digest: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
 *   salt: new Uint8Array(16),
 * });
 * assert.equal(commitment.byteLength, 32);
 * ```
 */
export function commitmentOf(event: Erasable): Uint8Array {
  return sha256("rampkit/commitment/1", [
    event.salt,
    event.digest,
    event.body,
  ]);
}

/**
 * Hash of one event, linked to the one before: covers the previous hash, the
 * position, every column, and the body through its commitment.
 *
 * @param previous Hash of the previous existing event, or the genesis hash.
 * @param event The event; its body, digest and salt are not looked at.
 * @param commitment {@linkcode commitmentOf} the event.
 * @returns 32 bytes.
 *
 * @example Extend a chain by one
 * ```ts
 * import { linkHash, webhookEvent } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const event = webhookEvent({
 *   id: "01JDELIVERY",
 *   receivedAt: "2026-01-01T10:00:00.000Z",
 *   body: new TextEncoder().encode("{}"),
 * }, new Uint8Array(16));
 * const hash = linkHash(
 *   new Uint8Array(32),
 *   { ...event, position: 1 },
 *   new Uint8Array(32),
 * );
 * assert.equal(hash.byteLength, 32);
 * ```
 */
export function linkHash(
  previous: Uint8Array,
  event: Omit<RecordedEvent, "body" | "digest" | "salt">,
  commitment: Uint8Array,
): Uint8Array {
  return sha256("rampkit/link/1", [
    previous,
    String(event.position),
    event.eventId,
    event.kind,
    event.type,
    event.orderId,
    event.userId,
    event.clickId,
    event.occurredAt,
    event.recordedAt,
    event.readAt,
    commitment,
  ]);
}

type Part = string | null | Uint8Array;

const utf8 = new TextEncoder();
const scratch = new Uint8Array(16_384);

/** SHA-256 over the parts in one piece, which costs less than part by part. */
function sha256(domain: string, parts: readonly Part[]): Uint8Array {
  let most = 5 + 3 * domain.length;
  for (const part of parts) {
    most += typeof part === "string"
      ? 5 + 3 * part.length
      : 5 + (part?.length ?? 0);
  }
  const encoded = most <= scratch.length ? scratch : new Uint8Array(most);
  let end = put(encoded, 0, domain);
  for (const part of parts) end = put(encoded, end, part);
  const hash = createHash("sha256").update(encoded.subarray(0, end));
  return new Uint8Array(hash.digest());
}

/**
 * Null is one zero byte; a text is 1, its length in four bytes, its UTF-8;
 * bytes are 2, their length in four bytes, themselves.
 */
function put(into: Uint8Array, at: number, part: Part): number {
  if (part === null) {
    into[at] = 0;
    return at + 1;
  }
  const start = at + 5;
  let length = part.length;
  if (typeof part === "string") {
    length = putText(into, start, part);
    into[at] = 1;
  } else {
    into.set(part, start);
    into[at] = 2;
  }
  into[at + 1] = length >>> 24;
  into[at + 2] = length >>> 16;
  into[at + 3] = length >>> 8;
  into[at + 4] = length;
  return start + length;
}

/** Nearly all columns are ASCII, which is faster written by hand. */
function putText(into: Uint8Array, start: number, text: string): number {
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char > 127) return utf8.encodeInto(text, into.subarray(start)).written;
    into[start + at] = char;
  }
  return text.length;
}
