import { Buffer } from "node:buffer";
import type { RecordedEvent } from "../events/event.ts";
import { underivedColumn } from "../events/derive.ts";
import { linkHash } from "../hashes/chain_hash.ts";
import { commitmentOf, type Erased, ERASED_ID } from "../hashes/commitment.ts";
import type { Damage, DamageReason } from "./verification.ts";

/** What a position holds: the event, its link, or both. */
export interface Row {
  readonly position: number;
  readonly event: RecordedEvent | null;
  readonly erased: Erased | null;
  readonly commitment: Uint8Array | null;
  readonly hash: Uint8Array | null;
}

/** Something wrong. */
export interface Finding {
  readonly position: number;
  readonly damage: Damage;
  readonly reason: DamageReason;
  /** Commitment of the event found, to look for where it belongs. */
  readonly commitment?: Uint8Array;
}

/** Checks that an event fits its link, and the link the one before it. */
export function checkLink(
  event: RecordedEvent,
  row: Row,
  previous: Uint8Array,
): Finding | null {
  const { position } = event;
  const wrong = wrongErasure(event, row.erased);
  if (wrong !== null) return finding(position, "altered", { code: wrong });
  const stored = row.commitment ?? new Uint8Array();
  const commitment = commitmentOf(event, row.erased);
  if (!same(commitment, stored)) {
    return {
      position,
      damage: "altered",
      reason: {
        code: event.body === null ? "erased_event_altered" : "event_altered",
      },
      commitment,
    };
  }
  if (!same(linkHash(previous, position, stored), row.hash ?? stored)) {
    return finding(position, "altered", { code: "link_altered" });
  }
  return null;
}

type WrongErasure =
  | "erased_with_body"
  | "erased_in_part"
  | "erasure_not_recorded"
  | "erased_with_ids";

/** Says what is wrong with an erasure; null when nothing is. */
function wrongErasure(
  { body, digest, salt, ...event }: RecordedEvent,
  erased: Erased | null,
): WrongErasure | null {
  const parts = [body, digest, salt].filter((part) => part === null).length;
  if (parts === 0) {
    return erased === null ? null : "erased_with_body";
  }
  if (parts < 3) return "erased_in_part";
  if (erased === null) {
    return "erasure_not_recorded";
  }
  if (erased.part === "body") return null;
  // The id of a delivery is random. That of anything else follows from its body.
  const noId = event.kind === "webhook" || event.eventId.startsWith(ERASED_ID);
  // A user who is named beside the erased one stays.
  const gone = noId && event.clickId === null;
  return gone ? null : "erased_with_ids";
}

/** Checks that the columns of an event follow from its body. */
export function checkColumns(event: RecordedEvent): Finding | null {
  const { body, digest } = event;
  if (body === null || digest === null) return null;
  const wrong = wrongColumn(event, body);
  return wrong === null ? null : finding(
    event.position,
    "underived",
    { code: "column_not_derived", column: wrong },
  );
}

function wrongColumn(event: RecordedEvent, body: Uint8Array): string | null {
  try {
    const wrong = underivedColumn(event, body);
    // Without an entity there is nothing that the id could follow from.
    const undecided = wrong?.field === "eventId" && wrong.derived === null;
    return undecided ? null : wrong?.field ?? null;
  } catch {
    return "body";
  }
}

/** Makes a finding. */
export function finding(
  position: number,
  damage: Damage,
  reason: DamageReason,
): Finding {
  return { position, damage, reason };
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
