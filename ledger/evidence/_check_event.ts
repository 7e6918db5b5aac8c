import { Buffer } from "node:buffer";
import { derive, factId } from "../event/derive.ts";
import type { RecordedEvent } from "../event/event.ts";
import { commitmentOf, linkHash } from "./chain.ts";
import type { Damage } from "./verification.ts";

/** One position: the event, the link, or both. */
export interface Row {
  readonly position: number;
  readonly event: RecordedEvent | null;
  readonly commitment: Uint8Array | null;
  readonly hash: Uint8Array | null;
}

/** Something wrong. */
export interface Finding {
  readonly position: number;
  readonly damage: Damage;
  readonly detail: string;
  /** Commitment of the event found, to look for where it belongs. */
  readonly commitment?: Uint8Array;
}

/** Whether an event and its link fit, and follow from the link before. */
export function checkLink(
  event: RecordedEvent,
  row: Row,
  previous: Uint8Array,
): Finding | null {
  const { position, body, digest, salt } = event;
  const stored = row.commitment ?? new Uint8Array();
  if (body !== null && digest !== null && salt !== null) {
    const commitment = commitmentOf({ body, digest, salt });
    if (!same(commitment, stored)) {
      return {
        position,
        damage: "altered",
        detail: "The body, its digest or its salt was changed",
        commitment,
      };
    }
  } else if (body !== null || digest !== null || salt !== null) {
    return finding(position, "altered", "The body is erased in part only");
  }
  if (!same(linkHash(previous, event, stored), row.hash ?? new Uint8Array())) {
    return finding(
      position,
      "altered",
      "A column or the link of the event was changed",
    );
  }
  return null;
}

/** Whether the columns of an event follow from its body. */
export function underived(event: RecordedEvent): Finding | null {
  const { body, digest } = event;
  if (body === null || digest === null) return null;
  const wrong = wrongColumn(event, body);
  return wrong === null ? null : finding(
    event.position,
    "underived",
    `The column ${wrong} does not follow from the body`,
  );
}

function wrongColumn(event: RecordedEvent, body: Uint8Array): string | null {
  let fact: ReturnType<typeof derive>;
  try {
    fact = derive(event.kind, body);
  } catch {
    return "body";
  }
  for (const [name, value] of Object.entries(fact.columns)) {
    if (event[name as keyof typeof fact.columns] !== value) return name;
  }
  const { entity, columns: { digest } } = fact;
  if (entity === null || digest === null) return null;
  return factId(event.kind, entity, event.readAt, digest) === event.eventId
    ? null
    : "eventId";
}

/** Something wrong, in words. */
export function finding(
  position: number,
  damage: Damage,
  detail: string,
): Finding {
  return { position, damage, detail };
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
