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
  /** Where that is, for messages. */
  readonly place: string;
  /**
   * Reads what is stored.
   *
   * @throws {LedgerError} `corrupt` when it cannot be understood.
   */
  read(): Promise<AnchorRecord>;
  /** Stores it, whole or not at all. */
  write(record: AnchorRecord): Promise<void>;
}
