import { defined } from "../../core/guards.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { flagParam, wordParam } from "../../core/settings/params.ts";
import { refuseEmptyWindow } from "../queries/list_filters.ts";
import {
  checkStatus,
  ORDER_FILTERS,
  orderQuery,
} from "../queries/order_filters.ts";
import { orderExport } from "../views/order_export.ts";
import { counted } from "../views/text.ts";
import { type Operation, operation, type WrittenText } from "./operation.ts";
import {
  CSV_FILE,
  csvForm,
  marked,
  notWritten,
  refuseMarkAlone,
} from "./written_text.ts";

/** Orders as a file, and how many there are so far. */
interface OrderExport extends WrittenText {
  /** How many were written, and how many were left out. */
  readonly count: { written: number; leftOut: number };
}

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
  checks: (given, { named }) => {
    refuseEmptyWindow(given, named);
    refuseMarkAlone(given);
    if (given.format === "ndjson" && csvForm(given) !== undefined) {
      throw new UsageError(
        `${named("decimalMark")} and ${
          named("delimiter")
        } are for CSV: leave ` +
          "the format out",
      );
    }
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
    await checkStatus(ledger, named("status"), given.status);
    const count = { written: 0, leftOut: 0 };
    const wanted = async function* () {
      const { trust: _, ...filters } = given;
      const orders = ledger.orders.list({
        ...orderQuery(filters),
        stuckAtMs: nowMs,
      });
      for await (const order of orders) {
        if (trust === "all" || order.trust === trust) {
          yield order;
          onProgress(++count.written);
        } else count.leftOut++;
      }
    };
    const parts = orderExport(wanted(), {
      ...{ format, totals, nowMs },
      ...defined({ form: csvForm(given) }),
    });
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
