import { type ChainOrigin, genesisHash } from "./chain.ts";
import {
  checkLink,
  type Finding,
  finding,
  type Row,
  underived,
} from "./_check_event.ts";
import type { Verification, VerifyOptions } from "./verification.ts";

/** How far the chain reaches, by its checkpoint. */
export interface Head {
  readonly position: number;
  readonly events: number;
  readonly hash: string;
}

/** The pure part: what has been seen so far, and whether the next row fits. */
export class Walk {
  readonly #expect: VerifyOptions["expect"];
  readonly #head: Head | null;
  #hash: Uint8Array;
  #last = 0;
  #chained = 0;
  #unchained = 0;
  #erased = 0;

  constructor(
    origin: ChainOrigin,
    head: Head | null,
    expect: VerifyOptions["expect"],
  ) {
    this.#head = head;
    this.#expect = expect;
    this.#hash = genesisHash(origin);
  }

  get events(): number {
    return this.#chained + this.#unchained;
  }

  step(row: Row): Finding | null {
    const { position, event } = row;
    if (position > (this.#head?.position ?? 0)) {
      // Past the head as it was at the start, links are left alone: other
      // processes may be adding some right now.
      if (event === null) return null;
      const found = underived(event);
      if (found === null) this.#unchained++;
      return found;
    }
    if (event === null) {
      return finding(position, "removed", "The event is gone");
    }
    if (row.commitment === null || row.hash === null) {
      return finding(position, "inserted", "The chain does not know the event");
    }
    const found = checkLink(event, row, this.#hash) ?? underived(event);
    if (found !== null) return found;
    if (event.body === null) this.#erased++;
    this.#hash = row.hash;
    this.#last = position;
    this.#chained++;
    if (
      this.#expect?.count === this.#chained &&
      this.#expect.hash !== this.#hash.toHex()
    ) {
      return this.#unexpected(
        `The chain of the first ${this.#chained} events has another hash ` +
          "than expected",
      );
    }
    return null;
  }

  end(): Verification {
    const found = this.#checkEnd();
    return found === null ? this.#result(null) : this.broken(found);
  }

  broken(found: Finding): Verification {
    return this.#result(found);
  }

  #checkEnd(): Finding | null {
    const head = this.#head;
    if (
      head !== null &&
      (head.events !== this.#chained || head.hash !== this.#hash.toHex())
    ) {
      return finding(
        this.#last + 1,
        "removed",
        `The chain had ${head.events} events; ${this.#chained} are left`,
      );
    }
    const expected = this.#expect?.count ?? 0;
    if (expected > this.#chained) {
      return this.#unexpected(
        `${expected} events were expected in the chain; it has ` +
          `${this.#chained}`,
        this.#last + 1,
      );
    }
    return null;
  }

  #unexpected(detail: string, position: number = this.#last): Finding {
    return finding(position, "unexpected", detail);
  }

  #result(found: Finding | null): Verification {
    return {
      ok: found === null,
      events: this.events,
      chained: this.#chained,
      unchained: this.#unchained,
      erased: this.#erased,
      hash: this.#hash.toHex(),
      firstBrokenPosition: found?.position ?? null,
      damage: found?.damage ?? null,
      detail: found?.detail ?? null,
    };
  }
}
