import type { MatchRow } from "../statement/match_statement.ts";
import {
  type BookedRow,
  leftOf,
  type MatchedRow,
  type MatchResult,
  type StatementMatch,
} from "../statement/statement_match.ts";
import { drawTable } from "./table.ts";
import { counted, wrap } from "./text.ts";

/** Result of a row, in words. */
export const RESULT_WORDS: Readonly<Record<MatchResult, string>> = {
  matched: "matched",
  differs: "differs",
  only_there: "only in the statement",
  only_here: "only in the books",
  unreadable: "cannot be read",
};

const FIELD_WORDS: Readonly<Record<keyof MatchRow, string>> = {
  orderId: "order id",
  externalOrderId: "external id",
  txId: "transaction",
  amount: "amount",
  currency: "currency",
  day: "day",
};

/** How a row differs, or what else to know of it; empty for nothing. */
export function rowRemark(
  { differences, unreadable, isOneOfSeveral, here }: MatchedRow,
): string {
  const remarks = differences.map(({ field, there, here, by }) => {
    const more = by === null
      ? ""
      : ` (${by.startsWith("-") ? "" : "+"}${by}${
        field === "day" ? " days" : ""
      })`;
    return `${FIELD_WORDS[field]}: ${there} there, ${
      here ?? "not known"
    } here` +
      more;
  });
  if (unreadable !== null) remarks.push(unreadable);
  if (isOneOfSeveral) remarks.push("others of this amount fitted too");
  if (here !== null && here.kind !== "order") remarks.push(here.kind);
  return remarks.join("; ");
}

/** An amount of either side with its currency. */
export function rowMoney(row: MatchRow | BookedRow | null): string {
  return [row?.amount, row?.amount === null ? null : row?.currency]
    .filter(Boolean).join(" ");
}

/** What a row of a statement names, for people: the surest id of it. */
export function rowName(row: MatchRow | null): string {
  return row?.orderId ?? row?.externalOrderId ?? row?.txId ?? "";
}

/** How a statement and the books agree, in one sentence. */
export function matchSentence(match: StatementMatch): string {
  const { counts, month, closedAt } = match;
  const left = leftOf(match);
  const of = `${month}${closedAt === null ? ", which is not closed" : ""}`;
  const matched = `${counted(counts.matched, "row")} of the statement and of ` +
    `the books of ${of} matched`;
  const parts = Object.entries(counts)
    .filter(([result, count]) => result !== "matched" && count > 0)
    .map(([result, count]) =>
      `${count} ${RESULT_WORDS[result as MatchResult]}`
    );
  return left === 0
    ? `${matched}; nothing is left`
    : `${matched}; ${counted(left, "row")} left: ${parts.join(", ")}`;
}

/** A matched statement for people: sums, and each row that is left. */
export function statementLines(
  match: StatementMatch,
  columns: number | null,
): string[] {
  const lines = [wrap(matchSentence(match), columns)];
  if (match.sums.length > 0) {
    lines.push(
      "",
      drawTable(
        [
          { title: "Currency", whole: true },
          { title: "Statement", align: "right", whole: true },
          { title: "Books", align: "right", whole: true },
          { title: "Difference", align: "right", whole: true },
        ],
        match.sums.map(({ currency, there, here, difference }) => [
          currency ?? "not said",
          there ?? "none",
          here ?? "none",
          difference,
        ]),
        columns,
      ),
    );
  }
  const left = match.rows.filter(({ result }) => result !== "matched");
  if (left.length === 0) return lines;
  lines.push(
    "",
    drawTable(
      [
        { title: "Line", align: "right", whole: true },
        { title: "Result", whole: true },
        { title: "Statement", whole: true, spare: 2 },
        { title: "Amount", align: "right", whole: true },
        { title: "Order", whole: true },
        { title: "Booked", align: "right", whole: true },
        { title: "Day", whole: true, spare: 3 },
        { title: "What", spare: 1 },
      ],
      left.map((row) => [
        row.line === null ? "" : String(row.line),
        RESULT_WORDS[row.result],
        rowName(row.there),
        rowMoney(row.there),
        row.here?.orderId ?? "",
        rowMoney(row.here),
        row.there?.day ?? row.here?.day ?? "",
        rowRemark(row),
      ]),
      columns,
    ),
  );
  return lines;
}
