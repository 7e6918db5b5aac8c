/** Why the evidence chain does not go on from its anchored head. */
export type ChainBreak =
  | {
    /** The head is of another ledger: this one was put in its place. */
    readonly code: "other_ledger";
    /** Identifier of that ledger. */
    readonly ledgerId: string;
  }
  | {
    /**
     * - `link_gone`: the chain has no link at the head's position.
     * - `link_replaced`: it has another link there.
     */
    readonly code: "link_gone" | "link_replaced";
    /** Events by the head. */
    readonly events: number;
    /** Position of the head. */
    readonly position: number;
    /** When the head was anchored, UTC ISO 8601. */
    readonly anchoredAt: string;
  };
