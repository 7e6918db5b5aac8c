import {
  type AssumptionRisk,
  ASSUMPTIONS,
  type AssumptionSubject,
} from "../../core/assumptions/assumptions.ts";
import type { Fact, Judgement, NotSeenReason } from "../../sync/for_conform.ts";
import {
  ASSUMPTION_RISK_WORDS,
  ASSUMPTION_SUBJECT_WORDS,
  ASSUMPTION_WORDS,
  NOT_SEEN_WORDS,
} from "../wording/service/assumptions.ts";
import type { Worded } from "./order_view.ts";

/** One fact of what was seen. */
export interface ConformFactJson {
  /** What it is of. */
  readonly name: string;
  /** A count, a status, a word, or several words. */
  readonly value: Fact;
}

/** One assumption about the service, and what was seen of it. */
export interface ConformRowJson {
  /** Name of the row. */
  readonly name: string;
  /** What it is about. */
  readonly subject: AssumptionSubject;
  /** What is assumed of the service, in one sentence. */
  readonly taken: string;
  /** Whether it is so. */
  readonly verdict: "agrees" | "differs" | "not_seen";
  /** What was seen; null when it could not be looked at. */
  readonly facts: readonly ConformFactJson[] | null;
  /** Why it could not be looked at; null when it was. */
  readonly reason: Worded<{ readonly code: NotSeenReason }> | null;
  /** The code that depends on it. */
  readonly code: { readonly name: string; readonly file: string };
  /** What is at risk where it is not so. */
  readonly risk: Worded<{ readonly code: AssumptionRisk }>;
}

/** The service, compared with what is assumed of it. */
export interface ConformJson {
  /** Environment of the service. */
  readonly environment: "production" | "sandbox";
  /** Day on which it was looked at, UTC. */
  readonly day: string;
  /** Rows by verdict. */
  readonly counts: {
    readonly agrees: number;
    readonly differs: number;
    readonly not_seen: number;
  };
  /** Every row. */
  readonly rows: readonly ConformRowJson[];
}

/** Judgements as `--json` prints them. */
export function conformJson(
  { environment, day }: Pick<ConformJson, "environment" | "day">,
  judgements: readonly Judgement[],
): ConformJson {
  const count = (verdict: Judgement["verdict"]) =>
    judgements.filter((one) => one.verdict === verdict).length;
  return {
    environment,
    day,
    counts: {
      agrees: count("agrees"),
      differs: count("differs"),
      not_seen: count("not_seen"),
    },
    rows: judgements.map(rowJson),
  };
}

function rowJson(judgement: Judgement): ConformRowJson {
  const { name, verdict } = judgement;
  const { subject, code: [symbol, file], risk } = ASSUMPTIONS[name];
  const isSeen = judgement.verdict !== "not_seen";
  return {
    name,
    subject,
    taken: ASSUMPTION_WORDS[name],
    verdict,
    facts: isSeen
      ? Object.entries(judgement.facts).map(([name, value]) => ({
        name,
        value,
      }))
      : null,
    reason: isSeen
      ? null
      : { code: judgement.reason, message: NOT_SEEN_WORDS[judgement.reason] },
    code: { name: symbol, file },
    risk: { code: risk, message: ASSUMPTION_RISK_WORDS[risk] },
  };
}

/** A line for people, and the columns before its continuation. */
export type HangingLine = readonly [text: string, hang: number];

const INDENT = 8;
const SIGN = { agrees: "ok", differs: "DIFF", not_seen: "-" } as const;

/**
 * Rows for people, by subject: first what was seen, then by reason what was
 * not. What differs is listed with what was seen, what is at risk, and what
 * depends on it.
 */
export function conformLines({ rows }: ConformJson): readonly HangingLine[] {
  const lines: HangingLine[] = [];
  for (const [subject, some] of Map.groupBy(rows, (one) => one.subject)) {
    if (lines.length > 0) lines.push(["", 0]);
    lines.push([ASSUMPTION_SUBJECT_WORDS[subject], 2]);
    const byReason = Map.groupBy(some, ({ reason }) => reason?.message ?? null);
    for (const row of byReason.get(null) ?? []) lines.push(...seenLines(row));
    for (const [reason, same] of byReason) {
      if (reason === null) continue;
      lines.push([`  Not seen: ${reason}`, INDENT]);
      lines.push(...same.map(headLine));
    }
  }
  return lines;
}

function headLine({ verdict, taken }: ConformRowJson): HangingLine {
  return [`  ${SIGN[verdict].padEnd(INDENT - 2)}${taken}`, INDENT];
}

function seenLines(row: ConformRowJson): readonly HangingLine[] {
  if (row.verdict !== "differs") return [headLine(row)];
  const { facts, code, risk, name } = row;
  const below = [
    `seen: ${factsText(facts ?? [])}`,
    `at risk: ${risk.message}`,
    `used by: ${code.name} in ${code.file}`,
    `row: ${name} in CONFORM.md`,
  ];
  return [
    headLine(row),
    ...below.map((text): HangingLine => [
      `${" ".repeat(INDENT)}${text}`,
      INDENT + 2,
    ]),
  ];
}

/** Facts as words: `status 200, rows 21, unknown a and b`. */
function factsText(facts: readonly ConformFactJson[]): string {
  return facts.map(({ name, value }) => {
    const words = Array.isArray(value) ? value.join(" and ") : value ?? "";
    return `${name} ${words === "" ? "none" : String(words)}`;
  }).join(", ");
}
