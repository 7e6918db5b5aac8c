import type { RecordedEvent } from "../events/event.ts";
import { sha256 } from "./sha256.ts";

/**
 * How much of an event was erased: its body with digest and salt (`body`), or
 * also the columns that name somebody (`identity`): event id, order, user and
 * click id.
 */
export type ErasedPart = "body" | "identity";

/** What replaces the erased part of an event. */
export interface Erased {
  /** Which part was erased. */
  readonly part: ErasedPart;
  /** {@linkcode bodyCommitment} or {@linkcode identityCommitment} of it. */
  readonly commitment: Uint8Array;
}

/** How the id of an event begins once it is erased. */
export const ERASED_ID = "erased:";

/**
 * Replaces body and digest of an event. The salt makes it impossible to guess
 * an erased body from it.
 *
 * @param event Body, digest and salt.
 * @returns 32 bytes.
 *
 * @example Commit to a body
 * ```ts
 * import { bodyCommitment } from "./commitment.ts";
 * import assert from "node:assert/strict";
 *
 * const commitment = bodyCommitment({
 *   body: new TextEncoder().encode("{}"),
 *   digest: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
 *   salt: new Uint8Array(16),
 * });
 * assert.equal(commitment.byteLength, 32);
 * ```
 */
export function bodyCommitment(
  event: {
    readonly body: Uint8Array;
    readonly digest: string;
    readonly salt: Uint8Array;
  },
): Uint8Array {
  return sha256("rampkit/body/1", [event.salt, event.digest, event.body]);
}

/**
 * Replaces the body and the columns that name somebody. The commitment of the
 * body hides them as the salt does, once it is erased too.
 *
 * @param event The event; only its ids are looked at.
 * @param body {@linkcode bodyCommitment} of the event.
 * @returns 32 bytes.
 *
 * @example Commit to who an event is about
 * ```ts
 * import { identityCommitment } from "./commitment.ts";
 * import assert from "node:assert/strict";
 *
 * const ids = { eventId: "01J", orderId: "O1", userId: null, clickId: null };
 * assert.equal(identityCommitment(ids, new Uint8Array(32)).byteLength, 32);
 * ```
 */
export function identityCommitment(
  event: Pick<RecordedEvent, "eventId" | "orderId" | "userId" | "clickId">,
  body: Uint8Array,
): Uint8Array {
  return sha256("rampkit/identity/1", [
    body,
    event.eventId,
    event.orderId,
    event.userId,
    event.clickId,
  ]);
}

/**
 * Commitment of a whole event in the chain, except its position. It is made
 * from the inside out: the body, then the ids, then kind, type and times. So
 * what is left of an event is still verified after an inner part was erased.
 *
 * @param event The event.
 * @param erased What stands for its erased part; null when it is whole.
 * @returns 32 bytes. Of an event that lacks its body without a record of an
 * erasure, what no event has.
 *
 * @example An event before and after its body was erased
 * ```ts
 * import { bodyCommitment, commitmentOf } from "./commitment.ts";
 * import { webhookEvent } from "../events/mint.ts";
 * import assert from "node:assert/strict";
 *
 * const event = webhookEvent({
 *   id: "01JDELIVERY",
 *   receivedAt: "2026-01-01T10:00:00.000Z",
 *   body: new TextEncoder().encode("{}"),
 * }, new Uint8Array(16));
 * const after = { ...event, body: null, digest: null, salt: null };
 * const erased = { part: "body", commitment: bodyCommitment(event) } as const;
 * assert.deepEqual(commitmentOf(after, erased), commitmentOf(event));
 * ```
 */
export function commitmentOf(
  event: Omit<RecordedEvent, "position">,
  erased: Erased | null = null,
): Uint8Array {
  return sha256("rampkit/event/1", [
    erased?.part === "identity"
      ? erased.commitment
      : identityCommitment(event, bodyOf(event, erased)),
    event.kind,
    event.type,
    event.occurredAt,
    event.recordedAt,
    event.readAt,
  ]);
}

function bodyOf(
  { body, digest, salt }: Pick<RecordedEvent, "body" | "digest" | "salt">,
  erased: Erased | null,
): Uint8Array {
  if (body !== null && digest !== null && salt !== null) {
    return bodyCommitment({ body, digest, salt });
  }
  return erased?.commitment ?? nothing;
}

const nothing = new Uint8Array(32);
