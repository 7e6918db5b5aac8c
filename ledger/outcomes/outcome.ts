import { ATTENTION_KINDS, type AttentionKind } from "./attention_kind.ts";
import type { OutcomeFacts, StoredFacts } from "./outcome_facts.ts";
import {
  applies,
  ATTENTION_BESIDE,
  type Booked,
  OUTCOME_TABLE,
  type OutcomeCode,
  type OutcomeRow,
  type Release,
  type ReleaseReason,
} from "./outcome_table.ts";

/** Outcome of an order, by the table of outcomes. */
export interface Outcome {
  /** Code of the row that applies. */
  readonly code: OutcomeCode;
  /** Whether what the order pays for may be released. */
  readonly release: Release;
  /** Why. */
  readonly reason: ReleaseReason;
  /** What a month books. */
  readonly booked: Booked;
  /**
   * Why a person has to look, the gravest first: the kind of the row that
   * applies, and those of later rows that apply as well.
   */
  readonly attention: readonly AttentionKind[];
}

/**
 * Goes down the table of outcomes and takes the first row that applies.
 *
 * @param facts Facts of an order. What a reader does not know of time and of
 * other orders is taken as `no`.
 * @param table The table.
 * @returns What the row says.
 * @throws {Error} When no row applies, which a test excludes.
 */
export function outcomeOf(
  facts: StoredFacts & Partial<OutcomeFacts>,
  table: readonly OutcomeRow[] = OUTCOME_TABLE,
): Outcome {
  const known: OutcomeFacts = { overdue: "no", twice: "no", ...facts };
  const rows = table.filter(({ when }) => applies(known, when));
  const [first] = rows;
  if (first === undefined) {
    throw new Error(
      `Mend the table of outcomes: no row applies to ${JSON.stringify(known)}`,
    );
  }
  const beside = ATTENTION_BESIDE.filter(({ when }) => applies(known, when));
  const kinds = new Set([...rows, ...beside].map((row) => row.attention));
  const { code, release, reason, booked } = first;
  return {
    code,
    release,
    reason,
    booked,
    attention: ATTENTION_KINDS.filter((kind) => kinds.has(kind)),
  };
}
