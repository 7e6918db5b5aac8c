import { STATISTICS_STEPS } from "../../ledger/for_resources.ts";
import { endParam, timeParam, wordParam } from "../../settings/params.ts";
import { serviceStatus } from "../queries/service_status.ts";
import {
  chainStateJson,
  type LedgerStatsJson,
  ledgerStatsJson,
  statistics,
} from "../queries/statistics.ts";
import { labelled } from "../views/text.ts";
import { type Operation, operation } from "./operation.ts";

/** `ledger stats`. */
export const LEDGER_STATS: Operation = operation({
  command: "ledger stats",
  path: "/v1/ledger",
  scope: "read",
  operationId: "getLedger",
  summary: "Show how much the ledger holds and how far it is folded",
  description:
    "It counts every row, which takes a second or more where there " +
    "are millions: do not ask for it often.",
  params: {},
  result: {
    schema: "LedgerStats",
    description: "How much there is of each kind",
  },
  run: ({ ledger }) => ledgerStatsJson(ledger),
  says: (stats, _, { columns }) => labelled(rows(stats), columns, 23),
});

function rows(stats: LedgerStatsJson): [string, string | null][] {
  const kinds = Object.entries(stats.events);
  const events = kinds.reduce((sum, [, count]) => sum + count, 0);
  const { chain } = stats;
  return [
    ["Environment", stats.environment],
    ["Events", `${events}`],
    ...kinds.map((
      [kind, count],
    ): [string, string] => [`  ${kind}`, `${count}`]),
    ["Quarantined", `${stats.quarantined} webhooks`],
    ["Orders", `${stats.orders}`],
    ["Users", `${stats.users}`],
    ["Last position", `${stats.position}`],
    ["Not folded", `${stats.lag} events`],
    ["Chain", `${chain.count}:${chain.hash}`],
    ["Chain broken", chain.broken],
  ];
}

/** How everything is: `doctor` looks at the settings as well. */
export const STATUS: Operation = operation({
  command: null,
  path: "/v1/status",
  scope: "read",
  operationId: "getStatus",
  summary: "Show the health of webhook delivery, polling and all else",
  description: "What `doctor` finds, and the figures behind it. `ok` is " +
    "false when a check fails; RUNBOOK.md explains its `code`.",
  params: {},
  result: {
    schema: "ServiceStatus",
    description: "Delivery, polling and checks",
  },
  run: ({ ledger, nowMs, look }) => serviceStatus(ledger, nowMs, look),
});

/** Figures over time. */
export const STATISTICS: Operation = operation({
  command: null,
  path: "/v1/stats",
  scope: "read",
  operationId: "getStatistics",
  summary: "Figures over time, for plots",
  description: "Counts of answers, event types and orders that moved, and " +
    "times of answers, for each step in UTC; kept for 90 days.",
  params: {
    from: timeParam("Start; by default a day before the end"),
    to: endParam("End, now where it is left out"),
    step: wordParam(
      "How much time each figure is of; hour where left out",
      STATISTICS_STEPS,
    ),
  },
  result: {
    schema: "Statistics",
    description: "Figures from `from` to `to`",
  },
  run: ({ ledger, nowMs }, query) => statistics(ledger, query, nowMs),
});

/** The head of the evidence chain. */
export const EVIDENCE: Operation = operation({
  command: null,
  path: "/v1/evidence",
  scope: "read",
  operationId: "getEvidence",
  summary: "Head of the evidence chain: keep it elsewhere",
  description: "`ledger verify --expect EVENTS:HASH` compares with it.",
  params: {},
  result: { schema: "ChainState", description: "How far the chain reaches" },
  run: async ({ ledger }) => chainStateJson(await ledger.evidence()),
});
