import { defined } from "../../core/guards.ts";
import { isPolled } from "../../ledger/for_sync.ts";
import { CommandError } from "../../core/settings/errors.ts";
import { flagParam, needed } from "../../core/settings/params.ts";
import { SETTINGS } from "../../core/settings/settings.ts";
import { createPoller, type Poller } from "../../sync/mod.ts";
import { requestOrder } from "../../ledger/for_sync.ts";
import { CONTRADICTED_AFTER_MS } from "../../sync/recording/recorder.ts";
import {
  type PollReportJson,
  pollReportJson,
} from "../queries/service_status.ts";
import { counted, fitted } from "../views/text.ts";
import { describeDelivery } from "../wording/delivery.ts";
import { span } from "../wording/phrases.ts";
import { describePollAlert } from "../wording/poll_failure.ts";
import { findOrder, ORDER_REF } from "./find_order.ts";
import {
  type Operation,
  operation,
  type OperationContext,
  type OperationParam,
  serviceOf,
} from "./operation.ts";

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
