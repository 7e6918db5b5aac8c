import { defined } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import {
  endParam,
  flagParam,
  needed,
  timeParam,
} from "../../core/settings/params.ts";
import { epochMs } from "../../core/settings/values.ts";
import {
  createPoller,
  type Poller,
  reconcile,
  recover,
} from "../../sync/mod.ts";
import { refuseEmptyWindow } from "../queries/orders.ts";
import {
  type ReconcileJson,
  reconcileJson,
  reconcileLines,
  recoverJson,
} from "../views/ledger_view.ts";
import { counted, fitted } from "../views/text.ts";
import {
  type Operation,
  operation,
  type OperationContext,
  type OperationParam,
  serviceOf,
} from "./operation.ts";
import { isPolled, requestOrder } from "../../ledger/for_sync.ts";
import { SETTINGS, VARIABLES } from "../../core/settings/settings.ts";
import { CONTRADICTED_AFTER_MS } from "../../sync/recording/recorder.ts";
import {
  type PollReportJson,
  pollReportJson,
} from "../queries/service_status.ts";
import { describeDelivery } from "../wording/delivery.ts";
import { describePollAlert } from "../wording/poll_failure.ts";
import { span } from "../wording/phrases.ts";
import { findOrder, ORDER_REF } from "./find_order.ts";
import type { OrderLook } from "../../witness/mod.ts";
import { nothingToLookAt, VERDICT } from "../wording/release.ts";

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

const BY_ITSELF = "`serve` polls by itself; a request lets it ask at once.";

/** Minutes after which a claim that the service does not share counts no more. */
const CONTRADICTED_AFTER: OperationParam<number> = {
  description: `${SETTINGS.contradictedAfter.means}; ` +
    `${CONTRADICTED_AFTER_MS / 60_000} unless said`,
  schema: { type: "integer", minimum: 1, maximum: 1440 },
  read: SETTINGS.contradictedAfter.read,
  operand: "<minutes>",
};

/** `poll`: runs until it is stopped. */
export const POLL: Operation = operation({
  command: "poll",
  path: null,
  onlyCommand: BY_ITSELF,
  scope: "operate",
  operationId: "poll",
  summary: "Read from the service what webhooks did not report, and confirm " +
    "what they claimed, until Ctrl-C",
  examples: [],
  params: { contradictedAfter: CONTRADICTED_AFTER },
  result: { schema: null, description: "Nothing: it runs until Ctrl-C" },
  opens: "begins",
  asks: "lists",
  counts: "orders and users read",
  run: async (context, { contradictedAfter }) => {
    const { ledger: { driver }, note, signal } = context;
    const { poller, read } = pollerOf(context, contradictedAfter);
    const { address = "the service", requestsPerSecond } = serviceOf(context);
    const pace = requestsPerSecond === undefined
      ? ""
      : ` at ${requestsPerSecond} requests a second`;
    note(`Asking ${address}${pace} until Ctrl-C`);
    if (await isPolled(driver)) {
      note(
        "Another poller works on this ledger, for example in `serve`; this " +
          "one waits, and takes over when the other is gone",
      );
    }
    await poller.run(signal);
    return { read: read() };
  },
  notes: ({ read }) => [
    `Stopped: ${read} orders and users were read, all are stored`,
  ],
});

/** `poll --once`. */
export const POLL_ONCE: Operation = operation({
  command: "poll",
  path: null,
  onlyCommand: BY_ITSELF,
  scope: "operate",
  operationId: "pollOnce",
  summary: "Run every sweep once, print what it read, and exit",
  examples: ["--once"],
  params: {
    once: needed(
      flagParam("Run every sweep once, print what it read, and exit"),
    ),
    contradictedAfter: CONTRADICTED_AFTER,
  },
  result: { schema: "PollReport", description: "What every sweep read" },
  opens: "begins",
  asks: "lists",
  counts: "orders and users read",
  stopped: (read) =>
    `${read} orders and users were read, and what was new is stored; run it ` +
    "again for the others",
  run: async (context, { contradictedAfter }): Promise<PollReportJson> => {
    const { poller } = pollerOf(context, contradictedAfter);
    const report = await poller.once({ signal: context.signal });
    if (report.ran) return pollReportJson(report);
    throw new CommandError(
      `Another poller (${report.heldBy}) works on this ledger, for example ` +
        "in `serve`, and reads what there is; to read a window at once, use " +
        "recover. If it is gone, its lease ends in " + span(report.leftMs),
      "in_use",
    );
  },
  says: ({ status, appended, delivery, ...read }, _, { columns }) => {
    const { orders, users, lag, counts } = status;
    return fitted(
      columns,
      `${counted(read.orders, "reading")} of orders and ${read.users} of ` +
        `users; ${appended} said something new`,
      `History of orders: ${past(orders)}; of users: ${past(users)}`,
      `${counts.openOrders} of ${counts.orders} orders are open; all were ` +
        `asked for again since ${lag.allAskedSince ?? "never"}`,
      `Delivery: ${delivery.detail}`,
    );
  },
});

function past(
  { complete, why }: {
    readonly complete: boolean;
    readonly why: string | null;
  },
): string {
  return complete ? "complete" : `incomplete, ${why}`;
}

/** A poller that tells what it meets, and how much it has read. */
function pollerOf(
  context: OperationContext,
  contradictedAfter: number | undefined,
): { readonly poller: Poller; readonly read: () => number } {
  const { ledger, now, note, onProgress } = context;
  const { lists, requestsPerSecond } = serviceOf(context);
  let read = 0;
  const poller = createPoller({
    ...{ ledger, now, client: lists() },
    ...defined({
      requestsPerSecond,
      contradictedAfterMs: contradictedAfter === undefined
        ? undefined
        : contradictedAfter * 60_000,
    }),
    onProgress: ({ orders, users }) => onProgress(read += orders + users),
    onPollAlert: (alert) => note(describePollAlert(alert)),
    onAlert: ({ health }) => note(`Delivery: ${describeDelivery(health)}`),
  });
  return { poller, read: () => read };
}

/** That something is done in the background. */
export interface Accepted {
  /** Always true: what cannot be done is refused. */
  readonly accepted: true;
}

/** That an order is read in the background. */
export interface OrderAccepted extends Accepted {
  /** The order. */
  readonly orderId: string;
}

/** Lets the poller of this process ask at once. */
export const POLL_NOW: Operation = operation({
  command: null,
  onlyRequest: "It asks the poller of the process that answers; a command is " +
    "another process, which polls by itself.",
  path: "/v1/poll",
  scope: "operate",
  operationId: "pollNow",
  action: "poll",
  summary: "Ask the service at once",
  description: "The poller of this process reads what is new, what webhooks " +
    "named and every open order, before they are due.",
  params: {},
  result: {
    schema: "Accepted",
    description: "Accepted: it is done in the background",
    status: 202,
  },
  conflicts: true,
  run: ({ poller }): Promise<Accepted> => {
    if (poller === null) throw nothingPolls();
    if (poller.pollNow()) return Promise.resolve({ accepted: true });
    throw new CommandError(
      "Another process polls this ledger, or the poller is just starting: " +
        "ask that process, or try again in a moment",
    );
  },
  logged: () => ({}),
});

/** Has whichever process polls read one order, before all less urgent. */
export const READ_ORDER: Operation = operation({
  command: null,
  onlyRequest: "It is for programs that show an order and want it fresh; " +
    "`poll --once` reads every open order.",
  path: "/v1/orders/{ref}/read",
  scope: "operate",
  operationId: "readOrder",
  action: "read_order",
  summary: "Have one order read again",
  description:
    "In the background, within seconds; `freshness.requestedAt` of " +
    "the order says when it was. One order is read every ten seconds at most.",
  params: { ref: ORDER_REF },
  result: {
    schema: "OrderAccepted",
    description: "Accepted: it is done in the background",
    status: 202,
  },
  conflicts: true,
  run: async (context, { ref }): Promise<OrderAccepted> => {
    const { ledger: { driver }, poller, nowMs } = context;
    const { order: { orderId } } = await findOrder(context, ref);
    if (poller === null && !await isPolled(driver)) throw nothingPolls();
    await requestOrder(driver, orderId, nowMs);
    poller?.pollNow();
    return { accepted: true, orderId };
  },
  logged: ({ orderId }) => ({ orderId }),
});

function nothingPolls(): CommandError {
  return new CommandError(
    "Nothing polls in this process: start serve with an API key and without " +
      "--no-poll",
  );
}

const EXIT_CODES = "Exit code 3 when the chain finally says something else " +
  "than the service.";

/** `witness` with an order. */
export const LOOK_AT_CHAIN: Operation = operation({
  command: "witness",
  path: "/v1/orders/{ref}/witness",
  scope: "operate",
  operationId: "lookAtChain",
  summary: "Ask your own chain nodes what the transaction of an order did",
  description: "It asks at once, whether or not a look is due, and records " +
    "what is new.",
  examples: ["01KA00000000000000000000"],
  params: { ref: { ...ORDER_REF, place: "[order]" } },
  result: {
    schema: "OrderLook",
    description: "What the nodes showed",
    exitCodes: EXIT_CODES,
  },
  folds: true,
  opens: "begins",
  asks: "chain",
  conflicts: true,
  run: async (context, { ref }) => {
    const { ledger, signal, lookAtChain } = context;
    const { order: { orderId } } = await findOrder(context, ref);
    if (!lookAtChain) throw noNodes();
    const looked = await lookAtChain(orderId);
    await ledger.project({ signal });
    return looked;
  },
  logged: ({ orderId, look, recorded }) => ({
    orderId,
    verdict: look?.verdict ?? null,
    recorded,
  }),
  exit: (look) => isAgainst(look) ? "disagreement" : "fine",
  says: lookLine,
});

/** `witness` without an order. */
export const LOOK_AT_CHAINS: Operation = operation({
  command: "witness",
  path: null,
  onlyCommand: "`serve` looks at whatever is due, again and again.",
  scope: "operate",
  operationId: "lookAtChains",
  summary: "Ask about every success whose transaction is not settled",
  examples: ["--since 2026-11-01"],
  params: {
    since: {
      ...timeParam("Only orders created since; thirty days unless said"),
      operand: "<time>",
    },
  },
  result: {
    schema: "OrderLook",
    description: "What the nodes showed of each",
    many: "items",
    exitCodes: EXIT_CODES,
  },
  folds: true,
  opens: "begins",
  asks: "chain",
  run: async ({ ledger, signal, lookAtChains }, { since }) => {
    if (lookAtChains === undefined) throw noNodes();
    const items = await lookAtChains(since);
    await ledger.project({ signal });
    return { items };
  },
  exit: ({ items }) => items.some(isAgainst) ? "disagreement" : "fine",
  says: ({ items }, _, { columns }) =>
    items.length === 0
      ? "Nothing is due."
      : fitted(columns, ...items.map(lookLine)),
});

function noNodes(): CommandError {
  return new CommandError(
    `No chain nodes are known here: set ${VARIABLES.chainsFile}`,
  );
}

/** Whether the chain says something else than the service. */
function isAgainst({ look }: OrderLook): boolean {
  return look !== null && look.final &&
    ["short", "more", "other_recipient_or_asset", "reverted"].includes(
      look.verdict,
    );
}

/** What a look at an order came to, in one line. */
function lookLine({ orderId, nothing, look }: OrderLook): string {
  return `Order ${orderId}: ${
    look === null ? nothingToLookAt(nothing ?? "unknown_order") : said(look)
  }`;
}

function said(
  { verdict, arrived, confirmations, final, block, evidence }: NonNullable<
    OrderLook["look"]
  >,
): string {
  return [
    `${verdict}: ${VERDICT[verdict]}`,
    arrived === null ? "" : `${arrived} arrived`,
    block === null ? "" : `block ${block.blockHeight}`,
    confirmations === null ? "" : `${confirmations} confirmations`,
    final ? "final" : "not final",
    ...evidence.problems.map(({ node, problem }) => `${node}: ${problem}`),
  ].filter(Boolean).join(", ");
}
