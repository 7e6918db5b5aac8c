import {
  ATTENTION_KINDS,
  FACT_VALUES,
  type FactCondition,
  OUTCOME_TABLE,
  type OutcomeFacts,
} from "../../../ledger/for_resources.ts";
import { ATTENTION } from "../../wording/attention.ts";
import type { ReconcileCategory, ReconcileFlag } from "../../../sync/mod.ts";
import { FACTS, OUTCOME_WORDS } from "../../wording/outcome.ts";
import { reconcileWords } from "../../wording/reconcile.ts";
import { RELEASE, RELEASE_REASON } from "../../wording/release.ts";
import type { WordTable } from "../table.ts";

/** What a row of the table of outcomes may ask. */
export function factsTable(): WordTable {
  return {
    head: ["Fact", "Values", "What it is"],
    rows: factNames().map((fact) => [
      quoted(fact),
      FACT_VALUES[fact].map(quoted).join(", "),
      FACTS[fact],
    ]),
  };
}

/** The table of outcomes. */
export function outcomesTable(): WordTable {
  return {
    head: ["Outcome", "When", "Release", "Reason", "Attention", "Booked"],
    rows: OUTCOME_TABLE.map((
      { code, when, release, reason, attention, booked },
    ) => [
      quoted(code),
      conditionText(when),
      quoted(release),
      quoted(reason),
      attention === null ? "-" : quoted(attention),
      quoted(booked),
    ]),
  };
}

/** What to do about each outcome, and what to tell the customer. */
export function adviceTable(): WordTable {
  return {
    head: ["Outcome", "Next step", "What to tell the customer"],
    rows: OUTCOME_TABLE.map(({ code }) => [
      quoted(code),
      OUTCOME_WORDS[code].next,
      OUTCOME_WORDS[code].customer,
    ]),
  };
}

/** What each finding of `reconcile` means, and what to do. */
export function reconcileTable(
  findings: readonly (ReconcileCategory | ReconcileFlag)[],
): WordTable {
  return {
    head: ["Finding", "What it means", "What to do"],
    rows: findings.map((found) => {
      const { meaning, next } = reconcileWords(found);
      return [quoted(found), meaning, next];
    }),
  };
}

/** What each kind of attention means. */
export function attentionTable(): WordTable {
  return {
    head: ["Kind", "What it means"],
    rows: ATTENTION_KINDS.map((kind) => [quoted(kind), ATTENTION[kind]]),
  };
}

/** What each release means, for each of its reasons. */
export function releaseTable(): WordTable {
  const pairs = new Map(
    OUTCOME_TABLE.map(({ release, reason }) =>
      [`${release} ${reason}`, { release, reason }] as const
    ),
  );
  const order = Object.keys(RELEASE);
  return {
    head: ["Release", "Reason", "What it means"],
    rows: [...pairs.values()].sort((a, b) =>
      order.indexOf(a.release) - order.indexOf(b.release)
    ).map(({ release, reason }) => [
      quoted(release),
      quoted(reason),
      RELEASE_REASON[reason],
    ]),
  };
}

/** When a row applies, in words. */
function conditionText(when: FactCondition): string {
  return factNames().flatMap((fact) => {
    const wanted: readonly string[] | undefined = when[fact];
    if (wanted === undefined) return [];
    const others = FACT_VALUES[fact].filter((one) => !wanted.includes(one));
    return others.length === 1 && wanted.length > 2
      ? [`${fact} is not ${others[0]}`]
      : [`${fact} is ${wanted.join(" or ")}`];
  }).join(", ");
}

function factNames(): (keyof OutcomeFacts)[] {
  return Object.keys(FACT_VALUES) as (keyof OutcomeFacts)[];
}

function quoted(code: string): string {
  return `\`${code}\``;
}
