import { defined } from "../../core/guards.ts";
import type { Ledger, OrderView } from "../../ledger/mod.ts";
import type { AsOf } from "../../ledger/types.ts";
import { UsageError } from "../../core/settings/errors.ts";
import {
  flagParam,
  type Param,
  wordParam,
} from "../../core/settings/params.ts";
import { moment, TIME_FORMAT } from "../../core/settings/values.ts";
import { refuseEmptyWindow } from "../queries/list_filters.ts";
import {
  checkStatus,
  matches,
  ORDER_FILTERS,
  type OrderFilters,
  orderQuery,
} from "../queries/order_filters.ts";
import { orderExport } from "../views/order_export.ts";
import { counted } from "../views/text.ts";
import { type Operation, operation, type WrittenText } from "./operation.ts";
import {
  CSV_FILE,
  marked,
  notWritten,
  refuseMarkAlone,
} from "./written_text.ts";

/** Orders as a file, and how many there are so far. */
interface OrderExport extends WrittenText {
  /** How many were written, and how many were left out. */
  readonly count: { written: number; leftOut: number };
}

/** A point in the history of a ledger. */
const AS_OF: Param<AsOf> = {
  description: "What was known at this point, sorted by order id: a position " +
    `of the ledger, or ${TIME_FORMAT}`,
  schema: { type: "string" },
  read: (name, text) =>
    /^\d{1,15}$/.test(text)
      ? { position: Number(text) }
      : { time: moment(name)(text) },
};

// What is not exported is counted, so trust is no filter here.
const { trust: _, ...FILTERS } = ORDER_FILTERS;

/** How each format is called where media types are. */
const MEDIA_TYPES = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
} as const;

/** `orders export`. */
export const EXPORT_ORDERS: Operation = operation({
  command: "orders export",
  path: "/v1/orders/export",
  scope: "read",
  operationId: "exportOrders",
  summary: "Export orders for finance, with amounts exactly as the service " +
    "stated them",
  description:
    "Only confirmed ones unless --trust says otherwise; a note says " +
    "how many were left out. In CSV an apostrophe stands before a text that a " +
    "spreadsheet would compute or change, and before an amount of more than 15 " +
    "digits; ndjson holds every text exactly. New columns come at the end.",
  examples: [
    "--from 2026-11-01 --to 2026-11-30 --status success --output november.csv",
  ],
  params: {
    ...FILTERS,
    format: {
      ...wordParam("How it is written; csv unless said", ["csv", "ndjson"]),
      operand: "<format>",
    },
    trust: {
      ...wordParam(
        "Which orders: a claim may come from anyone who knows the webhook " +
          "address; confirmed unless said",
        ["confirmed", "claimed", "all"],
      ),
      operand: "<trust>",
    },
    totals: flagParam(
      "Totals instead of orders, by day (UTC), status, asset, currency and " +
        "trust",
    ),
    asOf: { ...AS_OF, operand: "<position|time>" },
    ...CSV_FILE,
  },
  result: {
    schema: null,
    description: "All of them, as they are read",
    text: {
      "text/csv": "A heading line, then a line for each",
      "application/x-ndjson": "One Order, or DailyTotal, a line",
    },
  },
  folds: true,
  // An empty file of books must not come of a mistyped name.
  opens: "stored",
  checks: (given, { named }) => {
    refuseEmptyWindow(given, named);
    refuseMarkAlone(given);
  },
  stopped: (written, { output }) =>
    `after ${written} orders; ` +
    notWritten(
      defined({ output }),
      "the output is not whole, and its last line says so",
    ),
  run: async (context, given): Promise<OrderExport> => {
    const { ledger, nowMs, named, onProgress } = context;
    const { format = "csv", totals = false, trust = "confirmed" } = given;
    const { asOf, ...filters } = given;
    await checkStatus(ledger, named("status"), given.status);
    await checkReached(ledger, named("asOf"), asOf);
    const count = { written: 0, leftOut: 0 };
    const wanted = async function* () {
      const { trust: _, ...others } = filters;
      const orders = asOf === undefined
        ? ledger.orders.list({ ...orderQuery(others), stuckAtMs: nowMs })
        : ordersThen(ledger, asOf, others, nowMs);
      for await (const order of orders) {
        if (trust === "all" || order.trust === trust) {
          yield order;
          onProgress(++count.written);
        } else count.leftOut++;
      }
    };
    const parts = orderExport(wanted(), { format, totals, nowMs });
    return {
      parts: marked(parts, given),
      mediaType: MEDIA_TYPES[format],
      cut: () => `NOT WHOLE: the export was cut after ${count.written} orders`,
      count,
    };
  },
  notes: ({ count: { written, leftOut } }, { output, totals, trust }) => [
    ...(output === undefined ? [] : [
      `Wrote ${totals ? "the totals of " : ""}${counted(written, "order")} ` +
      `to ${output}`,
    ]),
    // A part must not be mistaken for the whole.
    ...(leftOut === 0 ? [] : [
      `Left out: ${counted(leftOut, "order")} that ` +
      (trust === "claimed"
        ? "the service has confirmed"
        : "only webhooks claim and the service has not confirmed") +
      "; --trust all exports both",
    ]),
  ],
});

/** A position that is not reached would give another answer later. */
async function checkReached(
  ledger: Ledger,
  name: string,
  asOf: AsOf | undefined,
): Promise<void> {
  if (asOf === undefined || "time" in asOf) return;
  const { position } = await ledger.stats();
  if (asOf.position <= position) return;
  throw new UsageError(
    `Wrong ${name}: the ledger ends at position ${position}`,
  );
}

async function* ordersThen(
  ledger: Ledger,
  asOf: AsOf,
  filters: OrderFilters,
  nowMs: number,
): AsyncGenerator<OrderView> {
  for await (const order of ledger.ordersAsOf(asOf)) {
    if (matches(order, filters, nowMs)) yield order;
  }
}
