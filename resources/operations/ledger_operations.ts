import {
  type LedgerStatsJson,
  ledgerStatsJson,
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
  description: "It counts every row, which takes a second or more where " +
    "there are millions: ask for it seldom.",
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
