import type {
  ChainVerification,
  LedgerTypes,
  StatesVerification,
} from "../../ledger/mod.ts";
import type {
  DamageReason,
  RowDifference,
} from "../../ledger/for_resources.ts";
import { describeDamage } from "../wording/phrases.ts";
import { counted, drawTable, fitted } from "./text.ts";
import type { Worded } from "./order_view.ts";
import type {
  ReconcileFinding,
  ReconcileReport,
  ReconcileRow,
  RecoverReport,
  UnprovenReason,
} from "../../sync/mod.ts";
import { describeFinding, unprovenJson } from "../wording/reconcile.ts";
import type { ChainPair } from "../../core/chain/chain_network.ts";
import { VERDICT_REASON } from "../wording/release.ts";

/** Whether the ledger is as its evidence chain says, and where it is not. */
export interface VerificationJson extends ChainVerification {
  readonly reason: Worded<DamageReason> | null;
}

/** The same, and whether every stored state follows from the events. */
export interface StatesVerificationJson extends VerificationJson {
  /** What comparing the states found. */
  readonly states: StatesVerification;
}

/** A verification as `--json` prints it: the reason with its sentence. */
export function verificationJson(found: ChainVerification): VerificationJson {
  const { reason } = found;
  return {
    ...found,
    reason: reason === null
      ? null
      : { ...reason, message: describeDamage(reason) },
  };
}

/** What a verification found, in lines for people. */
export function verificationLines(
  found: ChainVerification,
  remote: boolean,
): string[] {
  if (found.reason !== null) {
    return [
      `Broken at position ${found.firstBrokenPosition}: ` +
      describeDamage(found.reason),
      "Change nothing; docs/reference/health.md says what to do",
    ];
  }
  return [
    `Whole: ${counted(found.events, "event")}` + parts(found),
    ...found.resets.map(({ at, events, hash }) =>
      `A restore gave up the anchored head at ${at}: ` +
      (hash === null ? "it could not be read" : `${events}:${hash}`)
    ),
    ...anchorLines(found, remote),
    "Keep this somewhere else; --expect compares a later ledger with it:",
    `  ${found.chained}:${found.hash}`,
  ];
}

function parts({ erased, unchained }: ChainVerification): string {
  const said = [
    ...(erased > 0 ? [`the body of ${erased} was erased`] : []),
    ...(unchained > 0 ? [`${unchained} wait for the chain`] : []),
  ];
  return said.length === 0 ? "" : `; ${said.join(", ")}`;
}

/** Says what the ledger was compared with, and what that cannot show. */
function anchorLines(
  { anchors, anchoredHead }: ChainVerification,
  remote: boolean,
): string[] {
  if (anchors.includes("expect")) return [];
  if (anchoredHead !== null) {
    return [
      `It continues from the head of ${
        counted(anchoredHead.events, "event")
      } ` +
      `that was kept beside it at ${anchoredHead.anchoredAt}; whoever can write one ` +
      "of the two can write the other",
    ];
  }
  return [
    "Not seen without --expect: a tail that was cut off together with its " +
    "links, or a chain that was computed again",
    remote
      ? "No head is kept beside a ledger on a server"
      : "No head is kept beside this file; serve, poll and others keep one",
  ];
}

/** How stored states compare with a fold from nothing, in lines for people. */
export function statesLines(
  found: StatesVerification,
  erased: number,
): string[] {
  const { orders = 0, users = 0 } = found.rows;
  const compared = `${counted(orders, "order")} and ${counted(users, "user")}`;
  if (found.ok) return [`States follow from the events: ${compared}`];
  const more = found.different - found.differences.length;
  return [
    `States do not follow from the events: of ${compared}, ` +
    `${counted(found.different, "row")} differ`,
    ...found.differences.flatMap(differenceLines),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(erased > 0
      ? [
        "Where a body was erased, `ledger refold` makes states follow from " +
        "what is left",
      ]
      : []),
  ];
}

function differenceLines(
  { key, kind, columns }: RowDifference,
): string[] {
  const row = `  ${key.join(" ")}`;
  if (kind === "missing") return [`${row}: the row is missing`];
  if (kind === "unfounded") return [`${row}: no event leads to it`];
  return [
    row,
    ...columns.map(({ field, before, after }) =>
      before === null && after === null
        ? `    ${field} differs`
        : `    ${field}: stored ${shown(before)}, follows ${shown(after)}`
    ),
  ];
}

function shown(value: string | null): string {
  return JSON.stringify(value);
}

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

/** An asset on a network, and how its transactions can be looked at. */
export interface AssetJson extends ChainPair {
  /**
   * Why the nodes that are configured here are not asked; null where they are.
   */
  readonly notAsked: LedgerTypes.VerdictReason | null;
}

/** The asset table, as the service documents it. */
export function assetLines(
  pairs: readonly ChainPair[],
  columns: number | null,
): readonly string[] {
  return [
    drawTable(
      [
        { title: "Asset", whole: true },
        { title: "Network", whole: true },
        { title: "Decimals", align: "right", whole: true },
        { title: "Smart contracts", whole: true },
      ],
      pairs.map(({ commodity, network, decimals, smartContracts }) => [
        commodity,
        network,
        String(decimals),
        smartContracts === null ? "?" : smartContracts ? "yes" : "no",
      ]),
      columns,
    ),
  ];
}

/** The asset table, with how each pair can be looked at. */
export function witnessLines(
  pairs: readonly AssetJson[],
  isConfigured: boolean,
  columns: number | null,
): readonly string[] {
  const can = pairs.filter(({ witness }) => witness !== "unsupported");
  const here = pairs.filter(({ notAsked }) => notAsked === null);
  return [
    drawTable(
      [
        { title: "Asset", whole: true },
        { title: "Network", whole: true },
        ...isConfigured ? [{ title: "Looked at here" }] : [],
        { title: "What it takes, or why not" },
      ],
      pairs.map((pair) => [
        pair.commodity,
        pair.network,
        ...isConfigured ? [hereOf(pair)] : [],
        needsOf(pair),
      ]),
      columns,
    ),
    "",
    `${can.length} of ${counted(pairs.length, "pair")} can be looked at` +
    (isConfigured ? `; your nodes are asked about ${here.length}.` : "."),
  ];
}

function hereOf({ notAsked }: AssetJson): string {
  return notAsked === null ? "yes" : `no: ${VERDICT_REASON[notAsked]}`;
}

/** What looking up a pair requires, or why it is not possible. */
function needsOf({ witness, family, chainId }: ChainPair): string {
  if (family === null) return VERDICT_REASON.network_not_supported;
  if (family === "bitcoin") return "a node with txindex=1, or Esplora";
  const node = chainId === null
    ? "a node, and the chainId, which is not built in"
    : `a node of chain ${chainId}`;
  return witness === "native"
    ? node
    : `${node}, and the token's contract in tokens`;
}

/** A widget session: valid for 30 seconds, and for one use. */
export interface SessionJson {
  /** Identifier to open the widget with. */
  readonly sessionId: string;
  /** Request identifier; null when the service left it out. */
  readonly requestId: string | null;
  /** Click id to open the widget with. */
  readonly clickId: string;
  /** How long the session may be opened, in milliseconds. */
  readonly validForMs: number;
  /** What the service will ignore or round, one sentence each. */
  readonly warnings: readonly string[];
}

/** An expectation that was recorded. */
export interface ExpectationJson {
  /** The id that was minted for it. */
  readonly id: string;
}
