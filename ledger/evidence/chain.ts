import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
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
    text(origin.environment),
    text(origin.ledgerId),
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
    bytes(event.salt),
    text(event.digest),
    bytes(event.body),
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
    bytes(previous),
    text(String(event.position)),
    text(event.eventId),
    text(event.kind),
    text(event.type),
    text(event.orderId),
    text(event.userId),
    text(event.clickId),
    text(event.occurredAt),
    text(event.recordedAt),
    text(event.readAt),
    bytes(commitment),
  ]);
}

function sha256(domain: string, parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha256").update(text(domain));
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

/** Null is one zero byte; a text is 1, its length in four bytes, its UTF-8. */
function text(value: string | null): Uint8Array {
  if (value === null) return Buffer.of(0);
  const length = Buffer.byteLength(value);
  const encoded = Buffer.allocUnsafe(5 + length);
  encoded[0] = 1;
  encoded.writeUInt32BE(length, 1);
  encoded.write(value, 5);
  return encoded;
}

/** 2, the length in four bytes, the bytes. */
function bytes(value: Uint8Array): Uint8Array {
  const encoded = Buffer.allocUnsafe(5 + value.byteLength);
  encoded[0] = 2;
  encoded.writeUInt32BE(value.byteLength, 1);
  encoded.set(value, 5);
  return encoded;
}
