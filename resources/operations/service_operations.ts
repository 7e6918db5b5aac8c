import { defined } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { UsageError } from "../../core/settings/errors.ts";
import {
  endParam,
  flagParam,
  needed,
  timeParam,
} from "../../core/settings/params.ts";
import { epochMs } from "../../core/settings/values.ts";
import { reconcile, recover } from "../../sync/mod.ts";
import { refuseEmptyWindow } from "../queries/list_filters.ts";
import {
  type ReconcileJson,
  reconcileJson,
  reconcileLines,
  recoverJson,
} from "../views/reconcile_view.ts";
import { counted, fitted } from "../views/text.ts";
import {
  type Operation,
  operation,
  type OperationContext,
  serviceOf,
} from "./operation.ts";

/** `recover`: after an outage, reads everything again and ends in the proof. */
export const RECOVER: Operation = operation({
  command: "recover",
  path: null,
  onlyCommand: "It works for minutes.",
  scope: "operate",
  operationId: "recover",
  summary: "Read a window again after an outage, and say whether all of it " +
    "was read",
  examples: ["--from 2026-11-19T22:00:00Z --to 2026-11-20T06:00:00Z"],
  params: {
    from: {
      ...needed(timeParam("Start of the window")),
      operand: "<time>",
    },
    to: { ...endParam("End of the window; now by default"), operand: "<time>" },
  },
  result: {
    schema: "RecoverReport",
    description: "What was read, and whether that is everything",
    exitCodes: "Exit code 1 when completeness could not be proven.",
  },
  opens: "begins",
  asks: "lists",
  counts: "orders and users read",
  stopped: (read) =>
    `${read} orders and users were read, and what was new is stored; ` +
    "nothing is proven, run it again",
  checks: checkWindow,
  run: async (context, { from, to }) => {
    let read = 0;
    const report = await recover({
      ...asking(context),
      fromMs: Date.parse(from),
      ...defined({ toMs: epochMs(to) }),
      onProgress: ({ orders, users }) =>
        context.onProgress(read += orders + users),
    });
    return recoverJson(report);
  },
  exit: ({ complete }) => complete ? "fine" : "failed",
  says: (report, _, { columns }) =>
    fitted(
      columns,
      `${counted(report.orders, "reading")} of orders and ${report.users} of ` +
        `users; ${report.appended} said something new`,
      report.complete
        ? `Complete: everything created from ${report.from} to ` +
          `${report.provenUpTo} was read`
        : `Incomplete: ${report.why}; run it again`,
    ),
});

/** `reconcile`: service and ledger, side by side. */
export const RECONCILE: Operation = operation({
  command: "reconcile",
  path: null,
  onlyCommand: "It works for minutes.",
  scope: "operate",
  operationId: "reconcile",
  summary: "Compare service and ledger over a window of creation time, and " +
    "change nothing",
  examples: ["--from 2026-11-01 --json"],
  params: {
    from: {
      ...timeParam("Start of the window; the oldest order by default"),
      operand: "<time>",
    },
    to: { ...endParam("End of the window; now by default"), operand: "<time>" },
    all: flagParam("List the orders that agree as well"),
  },
  result: {
    schema: "ReconcileReport",
    description: "What was compared, and what differs",
    exitCodes: "Exit code 3 when they disagree.",
  },
  opens: "begins",
  asks: "lists",
  counts: "orders compared",
  stopped: (compared) =>
    `${compared} orders were compared, and nothing is concluded`,
  checks: checkWindow,
  run: async (context, { from, to, all = false }): Promise<ReconcileJson> => {
    const { ledger, signal } = context;
    await ledger.project({ signal });
    const report = await reconcile({
      ...asking(context),
      ...defined({ fromMs: epochMs(from), toMs: epochMs(to) }),
      assets: ledger.assets,
      all,
      onProgress: context.onProgress,
    });
    return reconcileJson(report);
  },
  exit: ({ disagreements }) => disagreements === 0 ? "fine" : "disagreement",
  says: (report, _, { columns }) => reconcileLines(report, columns),
});

/** What asks the service for a window. */
function asking(context: OperationContext): {
  readonly ledger: Ledger;
  readonly client: ReturnType<ReturnType<typeof serviceOf>["lists"]>;
  readonly now: () => number;
  readonly signal: AbortSignal;
} {
  const { ledger, now, signal } = context;
  return { ledger, now, signal, client: serviceOf(context).lists() };
}

/** Refuses a window in which nothing can be: that would look like agreement. */
function checkWindow(
  window: { readonly from?: string; readonly to?: string },
  { named, nowMs }: Pick<OperationContext, "named" | "nowMs">,
): void {
  refuseEmptyWindow(window, named);
  const { from } = window;
  if (from === undefined || Date.parse(from) <= nowMs) return;
  throw new UsageError(
    `Wrong ${named("from")}: ${from} is later than now, ${
      new Date(nowMs).toISOString()
    }; name a time that has passed`,
  );
}
