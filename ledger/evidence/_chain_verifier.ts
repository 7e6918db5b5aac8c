import { hex } from "@scure/base";
import type { RecordedEvent } from "../events/event.ts";
import type { AnchorRecord, ChainHead } from "../hashes/anchored_head.ts";
import { type ChainOrigin, genesisHash } from "../hashes/chain_hash.ts";
import {
  checkColumns,
  checkLink,
  type Finding,
  finding,
  type Row,
} from "./_check_event.ts";
import type {
  Anchor,
  DamageReason,
  Verification,
  VerifyOptions,
} from "./verification.ts";

/** What a chain is compared with. */
export interface ChainReferences {
  /** Its own head, by its checkpoint. */
  readonly head: ChainHead | null;
  /** The head stored beside the ledger. */
  readonly anchored: AnchorRecord;
  /** Why that head cannot be read; null when it can. */
  readonly anchorDamage: string | null;
  /** What was recorded elsewhere. */
  readonly expect: VerifyOptions["expect"];
}

/**
 * Verifies a chain row by row. Pure: it knows what has been seen so far, and
 * says whether the next row fits.
 */
export class ChainVerifier {
  readonly #origin: ChainOrigin;
  readonly #references: ChainReferences;
  #hash: Uint8Array;
  #last = 0;
  #chained = 0;
  #unchained = 0;
  #erased = 0;
  readonly #retainedOrders = new RetainedOrders();

  constructor(origin: ChainOrigin, references: ChainReferences) {
    this.#origin = origin;
    this.#references = references;
    this.#hash = genesisHash(origin);
  }

  get events(): number {
    return this.#chained + this.#unchained;
  }

  /** What was kept of events that were whole when they were looked at. */
  get unmatched(): readonly UnmatchedRedaction[] {
    return this.#retainedOrders.unmatched;
  }

  step(row: Row): Finding | null {
    const { position, event } = row;
    if (position > (this.#references.head?.position ?? 0)) {
      // Past the head as it was at the start, links are left alone: other
      // processes may be adding some right now.
      if (event === null) return null;
      const found = checkColumns(event) ?? this.#retainedOrders.step(row);
      if (found === null) this.#unchained++;
      return found;
    }
    if (event === null) {
      return finding(position, "removed", { code: "event_gone" });
    }
    if (row.commitment === null || row.hash === null) {
      return finding(position, "inserted", { code: "link_missing" });
    }
    const found = checkLink(event, row, this.#hash) ?? checkColumns(event) ??
      this.#retainedOrders.step(row);
    if (found !== null) return found;
    if (event.body === null) this.#erased++;
    this.#hash = row.hash;
    this.#last = position;
    this.#chained++;
    return this.#checkAnchors();
  }

  end(): Verification {
    const found = this.#checkEnd() ?? this.#retainedOrders.end();
    return found === null ? this.#result(null) : this.broken(found);
  }

  broken(found: Finding): Verification {
    return this.#result(found);
  }

  #checkEnd(): Finding | null {
    const { head, expect, anchored, anchorDamage } = this.#references;
    if (
      head !== null &&
      (head.events !== this.#chained || head.hash !== hex.encode(this.#hash))
    ) {
      return finding(
        this.#last + 1,
        "removed",
        {
          code: "fewer_than_head",
          events: head.events,
          chained: this.#chained,
        },
      );
    }
    const next = this.#last + 1;
    if (expect !== undefined && expect.count > this.#chained) {
      return this.#unexpected(
        {
          code: "fewer_than_expected",
          expected: expect.count,
          chained: this.#chained,
        },
        next,
      );
    }
    if (anchorDamage !== null) {
      return this.#unexpected({
        code: "anchored_head_unreadable",
        error: anchorDamage,
      }, next);
    }
    if (anchored.head === null) return null;
    const { ledgerId, events, anchoredAt } = anchored.head;
    if (ledgerId !== this.#origin.ledgerId) {
      return this.#unexpected(
        { code: "anchored_head_of_other_ledger", ledgerId },
        1,
      );
    }
    if (events > this.#chained) {
      return this.#unexpected(
        head === null ? { code: "chain_gone", events, anchoredAt } : {
          code: "fewer_than_anchored",
          events,
          anchoredAt,
          chained: this.#chained,
        },
        next,
      );
    }
    return null;
  }

  /**
   * Whether the chain so far is the one that was recorded elsewhere or
   * anchored.
   */
  #checkAnchors(): Finding | null {
    const { expect, anchored } = this.#references;
    const hash = (count: number | undefined) =>
      count === this.#chained ? hex.encode(this.#hash) : null;
    const now = hash(expect?.count);
    if (now !== null && now !== expect?.hash) {
      return this.#unexpected(
        { code: "other_hash_than_expected", chained: this.#chained },
      );
    }
    const then = hash(anchored.head?.events);
    if (
      then !== null && then !== anchored.head?.hash &&
      anchored.head?.ledgerId === this.#origin.ledgerId
    ) {
      return this.#unexpected(
        {
          code: "other_hash_than_anchored",
          chained: this.#chained,
          anchoredAt: anchored.head.anchoredAt,
        },
      );
    }
    return null;
  }

  #anchors(): Anchor[] {
    const { expect, anchored } = this.#references;
    return [
      ...(expect === undefined ? [] : ["expect"] as const),
      ...(anchored.head === null ? [] : ["stored"] as const),
    ];
  }

  #unexpected(reason: DamageReason, position: number = this.#last): Finding {
    return finding(position, "unexpected", reason);
  }

  #result(found: Finding | null): Verification {
    return {
      ok: found === null,
      events: this.events,
      chained: this.#chained,
      unchained: this.#unchained,
      erased: this.#erased,
      anchors: this.#anchors(),
      anchoredHead: this.#references.anchored.head,
      resets: this.#references.anchored.resets,
      hash: hex.encode(this.#hash),
      firstBrokenPosition: found?.position ?? null,
      damage: found?.damage ?? null,
      reason: found?.reason ?? null,
    };
  }
}

/** What was kept of an event that was erased after it was checked. */
interface UnmatchedRedaction {
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
class RetainedOrders {
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
