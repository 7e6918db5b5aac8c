import type {
  ReconcileFinding,
  ReconcileReport,
  ReconcileRow,
  RecoverReport,
  UnprovenReason,
} from "../../sync/mod.ts";
import { describeFinding, unprovenJson } from "../wording/reconcile.ts";
import type { Worded } from "./order_view.ts";
import { drawTable } from "./table.ts";
import { counted, fitted } from "./text.ts";

/** One order as the service and the ledger have it, compared. */
export interface ReconcileRowJson extends ReconcileRow {
  readonly finding: Worded<ReconcileFinding>;
}

/** Service and ledger, compared over a window of creation time. */
export interface ReconcileJson extends Omit<ReconcileReport, "why"> {
  /** Why it is not proven to be all, in one sentence; null when it is. */
  readonly why: string | null;
  /** The same as a code with its data. */
  readonly reason: UnprovenReason | null;
  readonly rows: readonly ReconcileRowJson[];
}

/** A report as `--json` prints it: findings with their sentences. */
export function reconcileJson(report: ReconcileReport): ReconcileJson {
  const rows = report.rows.map((row) => ({
    ...row,
    finding: { ...row.finding, message: describeFinding(row) },
  }));
  return { ...report, ...unprovenJson(report.why), rows };
}

/**
 * What was read again after an outage, and whether that is proven to be all.
 */
export interface RecoverJson extends Omit<RecoverReport, "why"> {
  /** Why it is not proven to be all, in one sentence; null when it is. */
  readonly why: string | null;
  /** The same as a code with its data. */
  readonly reason: RecoverReport["why"];
}

/** What was read again, as `--json` prints it. */
export function recoverJson(report: RecoverReport): RecoverJson {
  return { ...report, ...unprovenJson(report.why) };
}

/** A report for people: a row for each order that it lists, and the sums. */
export function reconcileLines(
  report: ReconcileJson,
  columns: number | null,
): string[] {
  const kinds = Object.entries(report.counts).filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  const said = [
    `${counted(report.orders, "order")} compared: ${
      kinds.join(", ") || "none"
    }`,
    report.complete
      ? `Proven complete up to ${report.provenUpTo}`
      : `Not proven complete: ${report.why}`,
    report.disagreements === 0
      ? "Service and ledger agree"
      : `They disagree on ${counted(report.disagreements, "order")}; ` +
        (report.counts.behind + report.counts.claimed_only > 0
          ? "what is behind or only claimed is read by `poll --once`, or " +
            "beside a running `serve` by `recover`; "
          : "") +
        "docs/reference/health.md says what each category means",
  ];
  return [
    ...(report.rows.length === 0 ? [] : [rowTable(report.rows, columns), ""]),
    ...fitted(columns, ...said),
  ];
}

function rowTable(
  rows: readonly ReconcileRowJson[],
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "Order", whole: true },
      { title: "Category", whole: true },
      { title: "Service", whole: true, spare: 2 },
      { title: "Ledger", whole: true, spare: 3 },
      { title: "Flags", spare: 1 },
      { title: "Detail", spare: 4 },
    ],
    rows.map((row) => [
      row.orderId,
      row.category,
      row.serviceStatus ?? "-",
      row.ledgerStatus === null ? "-" : `${row.ledgerStatus} (${row.trust})`,
      row.flags.join(" "),
      row.finding.message,
    ]),
    columns,
  );
}
