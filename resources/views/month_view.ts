import type { MonthClose, MonthRecomputation } from "../../ledger/mod.ts";
import {
  type CurrencyTotal,
  type Exclusion,
  type KindTotal,
  type Money,
  type MonthChange,
  type MonthDifference,
  type MonthRowKind,
  type MonthSummary,
  sumCurrencies,
  sumKinds,
} from "../../ledger/for_resources.ts";
import { type MonthBooks, storedFiles } from "../months/month_books.ts";
import { withDecimals } from "../wording/phrases.ts";
import { EXCLUSIONS, ROW_KIND_WORDS } from "../wording/month.ts";
import { counted, drawTable, labelled, wrap } from "./text.ts";

/** A closed month, without the text of its files. */
export interface MonthJson extends Omit<MonthClose, "files"> {
  /** Its files, and the hash of their bytes. */
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
}

/** A closed month as `--json` prints it. */
export function monthJson({ files, ...close }: MonthClose): MonthJson {
  return {
    ...close,
    files: files.map(({ name, sha256 }) => ({ name, sha256 })),
  };
}

/** A row that corrects a closed month; its amounts stand beside the rest. */
export type MonthChangeJson = Omit<MonthChange, "money"> & Money;

/**
 * A closed month, where a new computation differs, and what became known since.
 */
export interface MonthRecomputationJson extends MonthJson {
  /** Where a new computation from the same events differs. */
  readonly differences: readonly MonthDifference[];
  /** Orders of it whose events were erased, so that nothing can be computed. */
  readonly erased: readonly string[];
  /** What became known of its orders since, on the day of `day`. */
  readonly changes: readonly MonthChangeJson[];
}

/** A closed month worked out again, as `--json` prints it. */
export function monthRecomputationJson(
  { stored, differences, erased, changes }: MonthRecomputation,
): MonthRecomputationJson {
  return {
    ...monthJson(stored),
    differences,
    erased,
    changes: changes.map(({ money, ...row }) => ({ ...row, ...money })),
  };
}

/**
 * The books of a month with their sums; of one that is not closed, as they are
 * now.
 */
export interface MonthDetailJson extends
  Omit<
    MonthJson,
    "closedAt" | "digest" | "position"
  > {
  /** When it was closed, UTC ISO 8601; null while it is not. */
  readonly closedAt: string | null;
  /** Digest of its event; null while it is not closed. */
  readonly digest: string | null;
  /**
   * Position of its event; null while it is not closed.
   * @asType integer
   */
  readonly position: number | null;
  /** What its `summary.json` holds. */
  readonly summary: MonthSummary;
  /** Sums of its rows apart by kind, and of all. */
  readonly kinds: readonly KindTotal[];
  /** Sums of all its rows by currency. */
  readonly currencies: readonly CurrencyTotal[];
}

/** The books of a month as `--json` prints them. */
export function monthDetailJson(books: MonthBooks): MonthDetailJson {
  const { close, summary, rows } = books;
  const { month, timeZone, timeZoneVersion, bookBy, asOf, foldVersion } =
    summary;
  return {
    month,
    timeZone,
    timeZoneVersion,
    bookBy,
    closedAt: close?.closedAt ?? null,
    digest: close?.digest ?? null,
    position: close?.position ?? null,
    asOf,
    foldVersion,
    files: storedFiles(books).map(({ name, sha256 }) => ({ name, sha256 })),
    summary,
    kinds: sumKinds(rows),
    currencies: sumCurrencies(rows),
  };
}

/** The books of a month for people: how, how much, and what was left out. */
export function monthLines(
  { closedAt, summary, kinds, currencies, files }: MonthDetailJson,
  columns: number | null,
): string[] {
  const { asOf, excluded } = summary;
  const stored = closedAt === null ? [] : files;
  const rows = Object.values(summary.rows).reduce((sum, one) => sum + one, 0);
  const lines = labelled(
    [
      ["Month", summary.month],
      ["Time zone", zoneText(summary)],
      ["Booked by", summary.bookBy],
      [
        "Closed",
        closedAt ??
          "no: this is what a closing would store now, and it may change",
      ],
      ["As of", `position ${asOf.position}, ${counted(asOf.events, "event")}`],
      ...Object.entries(summary.rows).map(([kind, count]): [string, string] => [
        ROW_KIND_WORDS[kind as MonthRowKind],
        String(count),
      ]),
      ...stored.map(({ name, sha256 }): [string, string] => [
        name,
        sha256,
      ]),
    ],
    columns,
    13,
  );
  if (rows > 0) {
    lines.push("", kindTable(kinds, columns));
    lines.push("", currencyTable(currencies, columns));
  }
  const reasons = Object.keys(EXCLUSIONS) as Exclusion[];
  for (const reason of reasons.filter((reason) => excluded[reason] > 0)) {
    lines.push(
      "",
      wrap(
        `Left out: ${counted(excluded[reason], "order")}, ${
          EXCLUSIONS[reason]
        }`,
        columns,
      ),
    );
  }
  return lines;
}

function zoneText({ timeZone, timeZoneVersion }: MonthSummary): string {
  return timeZoneVersion === null
    ? timeZone
    : `${timeZone} (data ${timeZoneVersion})`;
}

function kindTable(
  kinds: readonly KindTotal[],
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "Rows" },
      { title: "Currency", whole: true },
      { title: "Asset", whole: true },
      { title: "Count", align: "right", whole: true },
      { title: "Amount", align: "right", whole: true },
      { title: "Of the asset", align: "right", whole: true, spare: 3 },
      { title: "Your fees (USD)", align: "right", whole: true, spare: 1 },
      { title: "Their fees (USD)", align: "right", whole: true, spare: 2 },
    ],
    kinds.map((total) => [
      ROW_KIND_WORDS[total.kind],
      total.currency ?? "not known",
      [total.commodity ?? "not known", total.network ?? ""].join(" ").trim(),
      String(total.rows),
      sumText(
        total.currencyAmount,
        total.currencyAmountUnknown,
        total.currency,
      ),
      sumText(total.cryptoAmount, total.cryptoAmountUnknown),
      sumText(total.partnerFeeUsd, total.partnerFeeUsdUnknown, "USD"),
      sumText(total.serviceFeeUsd, total.serviceFeeUsdUnknown, "USD"),
    ]),
    columns,
  );
}

function currencyTable(
  currencies: readonly CurrencyTotal[],
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "All of a currency", whole: true },
      { title: "Count", align: "right", whole: true },
      { title: "Amount", align: "right", whole: true },
      { title: "Your fees (USD)", align: "right", whole: true, spare: 1 },
      { title: "Their fees (USD)", align: "right", whole: true, spare: 2 },
    ],
    currencies.map((total) => [
      total.currency ?? "not known",
      String(total.rows),
      sumText(
        total.currencyAmount,
        total.currencyAmountUnknown,
        total.currency,
      ),
      sumText(total.partnerFeeUsd, total.partnerFeeUsdUnknown, "USD"),
      sumText(total.serviceFeeUsd, total.serviceFeeUsdUnknown, "USD"),
    ]),
    columns,
  );
}

/** What is known, and how many are unknown: those are not zero. */
function sumText(
  sum: string | null,
  unknown: number,
  currency?: string | null,
): string {
  const known = sum === null || currency === undefined
    ? sum
    : withDecimals(sum, currency);
  if (unknown === 0) return known ?? "";
  return known === null ? `${unknown} unknown` : `${known}, ${unknown} unknown`;
}

/**
 * Where a new computation differs, and what became known since, for people.
 */
export function recomputationLines(
  { month, asOf, differences, erased, changes }: MonthRecomputationJson,
  columns: number | null,
): string[] {
  const lines = [
    wrap(
      differences.length === 0
        ? `${month} worked out again from the events up to position ` +
          `${asOf.position}: no difference`
        : `${month} worked out again from the events up to position ` +
          `${asOf.position}: ${counted(differences.length, "difference")}`,
      columns,
    ),
  ];
  if (differences.length > 0) {
    lines.push(
      "",
      drawTable(
        [
          { title: "Order", whole: true },
          { title: "Row", whole: true },
          { title: "Field" },
          { title: "Closed" },
          { title: "Now" },
        ],
        differences.map(({ orderId, kind, field, stored, computed }) => [
          orderId ?? "summary",
          kind ?? "",
          field,
          stored ?? "-",
          computed ?? "-",
        ]),
        columns,
      ),
    );
  }
  if (erased.length > 0) {
    lines.push(
      "",
      wrap(
        `Not worked out again: ${
          counted(erased.length, "order")
        } whose events ` +
          "were erased since",
        columns,
      ),
    );
  }
  lines.push(
    "",
    changes.length === 0
      ? "Known since the closing: nothing about its orders"
      : `Known since the closing: ${counted(changes.length, "row")}`,
  );
  if (changes.length > 0) {
    lines.push(
      "",
      drawTable(
        [
          { title: "Known", whole: true },
          { title: "Order", whole: true },
          { title: "Row", whole: true },
          { title: "Amount", align: "right", whole: true },
          { title: "Asset", align: "right", whole: true, spare: 1 },
          { title: "Booked in", whole: true },
        ],
        changes.map(({ day, orderId, kind, bookedIn, ...money }) => [
          day,
          orderId,
          kind,
          `${money.currencyAmount ?? "unknown"} ${money.currency ?? ""}`.trim(),
          `${money.cryptoAmount ?? "unknown"} ${money.commodity ?? ""}`.trim(),
          bookedIn ?? "not closed yet",
        ]),
        columns,
      ),
    );
  }
  return lines;
}
