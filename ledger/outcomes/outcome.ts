import { ATTENTION_KINDS, type AttentionKind } from "./attention_kind.ts";
import {
  FACT_VALUES,
  type OutcomeFacts,
  type StoredFacts,
} from "./outcome_facts.ts";
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

/** The outcome of an order by its row alone, whatever a person recorded. */
export type RowOutcome =
  & Omit<Outcome, "release" | "reason">
  & Pick<OutcomeRow, "release" | "reason">;

/**
 * Goes down the table of outcomes and takes the first row that applies.
 *
 * @throws {Error} When no row applies, which a test excludes.
 */
export function outcomeOf(
  facts: StoredFacts & Partial<OutcomeFacts>,
  table: readonly OutcomeRow[] = OUTCOME_TABLE,
): RowOutcome {
  const known: OutcomeFacts = { overdue: "no", twice: "no", ...facts };
  if (table !== OUTCOME_TABLE) return firstOf(table, known);
  let key = "";
  for (const fact of FACTS) key += `${known[fact]} `;
  let outcome = found.get(key);
  if (outcome === undefined) {
    outcome = firstOf(table, known);
    if (found.size === MOST_FOUND) found.clear();
    found.set(key, outcome);
  }
  return outcome;
}

const FACTS = Object.keys(FACT_VALUES) as readonly (keyof OutcomeFacts)[];

/**
 * Outcomes by their facts: nearly all orders share a few, and every state asks,
 * so that going down the table each time would be a part of the fold that shows.
 */
const found = new Map<string, RowOutcome>();

/** Outcomes that are remembered. */
const MOST_FOUND = 500;

/** Forgets what was looked up, for a test that changes the table in place. */
export function forgetOutcomes(): void {
  found.clear();
}

/**
 * The earlier form of the service's answers has no address, so that no wallet can
 * be compared: one health condition says so, in place of a task for each order.
 */
function isOfEarlierForm({ match, tx }: OutcomeFacts): boolean {
  return match === "incomplete" && tx === "unstated";
}

function firstOf(
  table: readonly OutcomeRow[],
  known: OutcomeFacts,
): RowOutcome {
  const rows = table.filter(({ when }) => applies(known, when));
  const [first] = rows;
  if (first === undefined) {
    throw new Error(
      `Fix the table of outcomes: no row applies to ${JSON.stringify(known)}`,
    );
  }
  const beside = ATTENTION_BESIDE.filter(({ when }) => applies(known, when));
  const kinds = new Set([...rows, ...beside].map((row) => row.attention));
  if (isOfEarlierForm(known)) kinds.delete("not_comparable");
  const { code, release, reason, booked } = first;
  return {
    code,
    release,
    reason,
    booked,
    attention: ATTENTION_KINDS.filter((kind) => kinds.has(kind)),
  };
}
