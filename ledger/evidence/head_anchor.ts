/** How far the evidence chain reaches. */
export interface ChainHead {
  /** Position of the last event in the chain; 0 when there is none. */
  readonly position: number;
  /** Number of events in the chain. */
  readonly events: number;
  /**
   * Hash of the last event, 64 hex digits: record it elsewhere, with `events`.
   */
  readonly hash: string;
}

/** The head of a chain, as it was stored outside the database. */
export interface AnchoredHead extends ChainHead {
  /** Identity of the ledger, 32 hex digits. */
  readonly ledgerId: string;
  /** When it was stored, UTC ISO 8601. */
  readonly anchoredAt: string;
}

/** An anchored head that a restore discarded on purpose. */
export interface AnchorReset {
  /** When, UTC ISO 8601. */
  readonly at: string;
  /** Events of the discarded head; null when it could not be read. */
  readonly events: number | null;
  /** Hash of the discarded head; null when it could not be read. */
  readonly hash: string | null;
}

/** Everything that is stored about the head of a chain. */
export interface AnchorRecord {
  /** The head; null until the chain is next extended. */
  readonly head: AnchoredHead | null;
  /** Discarded heads, oldest first. */
  readonly resets: readonly AnchorReset[];
}

/** Where the head of a chain is stored; {@linkcode openLedger} uses a file. */
export interface AnchorStore {
  /**
   * Reads what is stored.
   *
   * @throws {LedgerError} `corrupt` when it cannot be understood.
   */
  read(): Promise<AnchorRecord>;
  /** Stores it, whole or not at all. */
  write(record: AnchorRecord): Promise<void>;
}

/** Shortest time between two writes, ms: a chain grows many times a second. */
const SAVE_EVERY_MS = 1000;

interface HeadAnchorOptions {
  readonly store: AnchorStore;
  readonly ledgerId: string;
  /** The clock, in ms. */
  readonly now: () => number;
  /** Whether nothing is written. */
  readonly readOnly: boolean;
  /** Time that only goes forward, in ms. */
  readonly elapsed?: () => number;
}

/**
 * Stores the head of a chain outside the database, so that a truncated chain is
 * noticed. A head never replaces one that is further along. When a write fails,
 * work continues, and the older head still applies.
 */
export class HeadAnchor {
  readonly #options: HeadAnchorOptions;
  readonly #elapsed: () => number;
  #known: AnchoredHead | null | undefined;
  #latest: ChainHead | null = null;
  #writtenAt = -Infinity;

  constructor(options: HeadAnchorOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  /**
   * The head that the chain must contain; null where none can be read. It is read once,
   * because another process can only have saved a later one of the same chain, and
   * afresh where a restore may have discarded it.
   */
  async head(afresh = false): Promise<AnchoredHead | null> {
    if (this.#known === undefined || afresh) {
      this.#known = await this.record().then(({ head }) => head, () => null);
    }
    return this.#known;
  }

  record(): Promise<AnchorRecord> {
    return this.#options.store.read();
  }

  /** Saves a head that the chain has reached, at most once a second. */
  async save(head: ChainHead): Promise<void> {
    if (this.#options.readOnly || head.events === 0) return;
    if (head.events === this.#known?.events) return;
    this.#latest = head;
    if (this.#elapsed() - this.#writtenAt >= SAVE_EVERY_MS) await this.flush();
  }

  /** Writes a head that `save` has put off. */
  async flush(): Promise<void> {
    const { store, ledgerId, now } = this.#options;
    const latest = this.#latest;
    this.#latest = null;
    if (latest === null) return;
    this.#writtenAt = this.#elapsed();
    try {
      const { head, resets } = await store.read();
      if (head !== null && head.events >= latest.events) return;
      const { position, events, hash } = latest;
      const anchoredAt = new Date(now()).toISOString();
      this.#known = { ledgerId, position, events, hash, anchoredAt };
      await store.write({ head: this.#known, resets });
    } catch {
      // A full disk or a folder that cannot be written to must not stop the
      // fold; `verify` says from when the anchored head is.
    }
  }
}
