import { hex } from "@scure/base";
import type { RecordedEvent } from "../events/event.ts";
import { type Finding, finding, type Row } from "./_check_event.ts";

/** What was kept of an erased event that was not seen erased. */
export interface UnmatchedRedaction {
  /** Where it was kept. */
  readonly position: number;
  /** The order. */
  readonly orderId: string | null;
  /** The erased event. */
  readonly eventId: string;
}

/**
 * The order of an erased event is not covered by the event's own link. What was
 * kept of the event is in the chain, and says of which order the event is.
 */
export class RetainedOrders {
  readonly #unproved = new Map<
    string,
    { readonly position: number; readonly orderId: string }
  >();
  readonly #proved = new Set<string>();
  readonly #unmatched: UnmatchedRedaction[] = [];

  /** Takes in a row. */
  step({ event, erased, commitment }: Row): Finding | null {
    if (event === null) return null;
    const { kind, orderId, position } = event;
    if (kind === "order_redacted") return this.#prove(event);
    if (
      erased?.part !== "identity" || orderId === null || commitment === null ||
      (kind !== "webhook" && kind !== "order_snapshot")
    ) return null;
    this.#unproved.set(hex.encode(commitment), { position, orderId });
    return null;
  }

  /** The first erased event whose order nothing proves. */
  end(): Finding | null {
    const [first] = this.#unproved.values();
    return first === undefined ? null : altered(first.position);
  }

  /** What was kept of events that were whole when they were looked at. */
  get unmatched(): readonly UnmatchedRedaction[] {
    return this.#unmatched;
  }

  #prove({ body, orderId, position }: RecordedEvent): Finding | null {
    const redacts = body === null ? null : redactsOf(body);
    if (redacts === null || redacts.part !== "identity") return null;
    const { commitment, event_id: eventId } = redacts;
    const erased = this.#unproved.get(commitment);
    if (erased === undefined) {
      if (!this.#proved.has(commitment)) {
        this.#unmatched.push({ position, orderId, eventId });
      }
      return null;
    }
    if (erased.orderId !== orderId) return altered(erased.position);
    this.#unproved.delete(commitment);
    this.#proved.add(commitment);
    return null;
  }
}

function redactsOf(body: Uint8Array): {
  readonly part: string;
  readonly commitment: string;
  readonly event_id: string;
} | null {
  try {
    return JSON.parse(new TextDecoder().decode(body)).redacts ?? null;
  } catch {
    return null;
  }
}

function altered(position: number): Finding {
  return finding(position, "altered", { code: "erased_event_altered" });
}
