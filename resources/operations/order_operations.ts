import { defined } from "../../core/guards.ts";
import {
  addNote,
  HAND_OUTCOMES,
  LONGEST_NOTE,
  type Note,
  NOTE_ACTIONS,
  NOTED_ENTITIES,
  outcomeNow,
  readNotes,
} from "../../ledger/for_resources.ts";
import type { RecordedRelease } from "../../ledger/mod.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import {
  flagParam,
  needed,
  type Param,
  textParam,
  timeParam,
  wordParam,
} from "../../core/settings/params.ts";
import {
  checkStatus,
  ORDER_FILTERS,
  orderAsOf,
  orderDetail,
  type OrderDetailJson,
  orderExplanation,
  orderQuery,
  ordersPage,
  ordersTotals,
  PAGE,
  refuseEmptyWindow,
  soonOrdersTotals,
  SORT,
} from "../queries/orders.ts";
import { explanationLines } from "../views/explanation_view.ts";
import {
  foundByLines,
  orderLines,
  orderTable,
  totalsLines,
} from "../views/order_view.ts";
import {
  counted,
  minuteText,
  nextCommand,
  operands,
  wrap,
} from "../views/text.ts";
import { describeHandRelease } from "../wording/release.ts";
import { findOrder, ORDER_REF } from "./find_order.ts";
import {
  CSV_FILE,
  csvForm,
  type Items,
  marked,
  notWritten,
  type Operation,
  operation,
  type OperationContext,
  refusedRecord,
  refuseMarkAlone,
  type WrittenText,
} from "./operation.ts";
import { orderExport } from "../views/order_export.ts";
import { printable } from "../../core/text.ts";
import { deliveryDetail } from "../queries/deliveries.ts";

/** `orders list`. */
export const ORDERS: Operation = operation({
  command: "orders list",
  path: "/v1/orders",
  scope: "read",
  operationId: "listOrders",
  summary: "List orders, newest first unless sorted otherwise",
  description:
    "All filters that are given must hold. Orders that appear or move " +
    "meanwhile may be read or missed, but none is read twice.",
  examples: ["--status pending --limit 20"],
  params: { ...PAGE, ...ORDER_FILTERS, sort: SORT },
  result: {
    schema: "Order",
    description: "One page",
    many: { rows: "orders", first: "first" },
  },
  folds: true,
  checks: (query, { named }) => refuseEmptyWindow(query, named),
  run: async ({ ledger, nowMs, named }, query) => {
    await checkStatus(ledger, named("status"), query.status);
    const { items, next } = await ordersPage(ledger, query, nowMs);
    return { items, next };
  },
  says: ({ items }, _, { columns }) =>
    items.length === 0 ? "No orders match" : [orderTable(items, columns)],
  below: async ({ ledger, nowMs }, query) => {
    const totals = await soonOrdersTotals(ledger, query, nowMs);
    return totals === null
      ? [
        "Very many orders match, so they are not added up here: " +
        "`orders totals` does it",
      ]
      : totalsLines(totals);
  },
});

/** `orders totals`. */
export const ORDER_TOTALS: Operation = operation({
  command: "orders totals",
  path: "/v1/orders/totals",
  scope: "read",
  operationId: "sumOrders",
  summary: "Count orders and add up their amounts, by currency and trust",
  description:
    "The filters are those of the list; sums are exact. A million orders take " +
    "seconds, and their list leaves the totals out.",
  examples: ["--status success --day 2026-11-20"],
  params: ORDER_FILTERS,
  result: { schema: "OrderTotals", description: "The totals of all of them" },
  folds: true,
  checks: (filters, { named }) => refuseEmptyWindow(filters, named),
  run: async ({ ledger, nowMs, named }, filters) => {
    await checkStatus(ledger, named("status"), filters.status);
    return await ordersTotals(ledger, filters, nowMs);
  },
  says: (totals) => totalsLines(totals),
});

/** `orders show`. */
export const ORDER: Operation = operation({
  command: "orders show",
  path: "/v1/orders/{ref}",
  scope: "read",
  operationId: "getOrder",
  summary: "Show one order: its state and its anomalies",
  examples: ["01KA00000000000000000000 --json"],
  params: { ref: ORDER_REF },
  result: {
    schema: "OrderDetail",
    description: "The order, how fresh it is, and how it was found",
  },
  folds: true,
  run: async (context, { ref }) => {
    const { ledger, nowMs } = context;
    return await orderDetail(ledger, await findOrder(context, ref), nowMs);
  },
  says: (order, { ref }, { columns, nowMs, flags }) => {
    const id = operands(order.orderId);
    const next = (title: string, command: string) => [
      ...["", title, nextCommand(flags, command, id)],
    ];
    const what = order.facts.match === "matched"
      ? "--delivered"
      : "--delivered --for REFERENCE";
    return [
      ...orderLines(order, columns, nowMs, order),
      ...foundByLines(ref, order.foundBy, columns),
      ...(awaitsRelease(order)
        ? next(
          "Once you have delivered it, record that; or --refunded:",
          `release ${what} --by NAME --why TEXT`,
        )
        : []),
      ...(order.anomalies.length > 0
        ? next("Event by event:", "orders explain")
        : []),
    ];
  },
});

/** Whether a person is to decide about what the order pays for. */
function awaitsRelease(
  { attention, byHand, facts, release }: OrderDetailJson,
): boolean {
  return byHand === null && facts.shown === "success" &&
    (attention.length > 0 || release === "unchecked");
}

const AS_OF = timeParam("What was known then, instead of now");

/** `orders explain`. */
export const EXPLANATION: Operation = operation({
  command: "orders explain",
  path: "/v1/orders/{ref}/explanation",
  scope: "read",
  operationId: "explainOrder",
  summary: "Explain the state of an order: what each event changed, and why",
  description:
    "Of an order that very many webhooks name, the first 2,000 are " +
    "read, and as many events listed as fit into 4 MB; leftOut counts the rest.",
  examples: ["01KA00000000000000000000"],
  params: {
    ref: ORDER_REF,
    asOf: { ...AS_OF, only: "request" as const },
    verbose: {
      ...flagParam("Every field that changed, and which event each comes from"),
      only: "command" as const,
    },
  },
  result: {
    schema: "Explanation",
    description: "The order, and what each event did to it",
  },
  folds: true,
  run: async (context, { ref, asOf }) => {
    const { order: { orderId } } = await findOrder(context, ref);
    const { ledger, nowMs } = context;
    return await orderExplanation(ledger, orderId, nowMs, asOf) ??
      nothingKnown(orderId, asOf ?? "any time");
  },
  says: (explanation, { verbose = false }, { columns, nowMs, flags }) => [
    ...explanationLines(explanation, { columns, nowMs, verbose }),
    ...(verbose ? [] : [
      "",
      "Every field that changed:",
      nextCommand(
        flags,
        "orders explain --verbose",
        operands(explanation.state.orderId),
      ),
    ]),
  ],
});

/** `orders explain --as-of`. */
export const ORDER_AS_OF: Operation = operation({
  command: "orders explain",
  path: "/v1/orders/{ref}/as-of",
  scope: "read",
  operationId: "getOrderAsOf",
  summary: "Show one order as the ledger knew it at a time",
  examples: ["01KA00000000000000000000 --as-of 2026-11-20T09:00:00Z"],
  params: {
    ref: ORDER_REF,
    time: { ...needed(AS_OF), flag: "as-of", operand: "<time>" },
  },
  result: { schema: "Order", description: "The order as it was known then" },
  folds: true,
  run: async (context, { ref, time }) => {
    const { order: { orderId } } = await findOrder(context, ref);
    return await orderAsOf(context.ledger, orderId, time) ??
      nothingKnown(orderId, time);
  },
  says: (order, { time }, { columns }) =>
    orderLines(order, columns, Date.parse(time)),
});

function nothingKnown(orderId: string, time: string): never {
  throw new CommandError(
    `Nothing was known of order ${orderId} at ${time}`,
    "not_found",
  );
}

/** What a person did about an order, once. */
export interface OrderReleaseJson extends RecordedRelease {
  /** The order. */
  readonly orderId: string;
}

/** `release`. */
export const RELEASE_BY_HAND: Operation = operation({
  command: "release",
  path: "/v1/orders/{ref}/released",
  scope: "operate",
  operationId: "releaseOrder",
  summary:
    "Record that a person delivered, refunded or wrote off an order, or take " +
    "that back",
  description:
    "The order's release is `settled` then: no handler and no target gets its " +
    "`order.release.yes` while that stands. What speaks against it is said, and " +
    "has to be confirmed.",
  examples: [
    "01KA00000000000000000000 --delivered --for basket-17 --by Ada " +
    "--why 'paid at the counter'",
  ],
  params: {
    ref: ORDER_REF,
    outcome: {
      ...needed(wordParam("What the person did", HAND_OUTCOMES)),
      words: {
        delivered: "the goods were handed out",
        refunded: "the money was returned",
        written_off: "nothing more is done",
        taken_back: "what was recorded before does not hold",
      },
    },
    for: {
      ...textParam(
        "Reference of the purchase that was delivered; needed where the " +
          "order was read and matches no expectation",
      ),
      operand: "<reference>",
    },
    newReference: flagParam("The reference was never recorded, and is right"),
    confirmed: flagParam("What speaks against it was seen, and it is right"),
    by: {
      ...needed(textParam("Who did it")),
      operand: "<name>",
      isCaller: true as const,
    },
    why: needed(textParam("Why; name no customer: erasures keep it")),
  },
  inBody: true,
  result: { schema: "OrderRelease", description: "It is recorded" },
  folds: true,
  conflicts: true,
  run: async (
    context,
    { ref, outcome, by, why, for: reference, newReference, confirmed },
  ): Promise<OrderReleaseJson> => {
    const { order: { orderId } } = await findOrder(context, ref);
    const release = {
      ...{ outcome, by, why },
      ...defined({ for: reference, newReference, confirmed }),
    };
    const recorded = await context.ledger.release(orderId, release)
      .catch(refusedRecord(context.named("for")));
    return { orderId, ...recorded };
  },
  logged: ({ orderId, outcome }) => ({ orderId, outcome }),
  says: ({ orderId, ...recorded }) =>
    `Order ${orderId}: ${describeHandRelease(recorded)}`,
});

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

/** Longest identifier that a note can be about, in characters. */
const LONGEST_ID = 500;

/** A text of at most so many characters. */
function shortText(maxLength: number, description: string): Param<string> {
  const param = textParam(description);
  return {
    ...param,
    schema: { ...param.schema, maxLength },
    read: (name, text) => {
      if (text.length <= maxLength) return param.read(name, text);
      throw new UsageError(
        `Wrong ${name}: it has ${text.length} characters; ${maxLength} can be ` +
          "stored",
      );
    },
  };
}

const ABOUT = {
  entity: {
    ...needed(wordParam("What it is about", NOTED_ENTITIES)),
    place: "<entity>",
  },
  id: {
    ...needed(shortText(LONGEST_ID, "Which one; of an order any name of it")),
    place: "<id>",
  },
} as const;

/** `note` of something, without a text. */
export const NOTES: Operation = operation({
  command: "note",
  path: "/v1/notes",
  scope: "read",
  operationId: "listNotes",
  summary: "Show what people noted of an order, user, delivery or subscription",
  examples: ["order 01KA00000000000000000000"],
  params: ABOUT,
  result: {
    schema: "Note",
    description: "The notes, the oldest first",
    many: "list",
  },
  folds: true,
  run: async (context, { entity, id }): Promise<Items<Note>> => {
    const { entityId } = await aboutWhat(context, entity, id);
    const notes = await readNotes(context.ledger.driver, entity, [entityId]);
    return { items: notes.get(entityId) ?? [] };
  },
  says: ({ items }, _, { columns }) =>
    items.length === 0
      ? "Nothing is noted"
      : items.map((note) => wrap(printable(noteText(note)), columns, 2)),
});

/** `note` with who notes it. */
export const TAKE_NOTE: Operation = operation({
  command: "note",
  path: "/v1/notes",
  scope: "support",
  operationId: "takeNote",
  action: "note",
  summary: "Note something of what waits for a person, or acknowledge it",
  description:
    "Whoever acknowledges deals with the reasons for which it waits now; a " +
    "reason that comes later is not covered. A note decides nothing: what you " +
    "delivered or refunded is recorded by `release`.",
  examples: [
    "order 01KA00000000000000000000 --by Ada --text 'told the customer'",
    "delivery 01KB00000000000000000000 --acknowledge --by Ada",
  ],
  params: {
    ...ABOUT,
    action: {
      ...wordParam("What is done; a note where it is left out", NOTE_ACTIONS),
      words: {
        acknowledge: "you deal with what it waits for",
        reopen: "it waits again",
      },
    },
    text: shortText(
      LONGEST_NOTE,
      "The note; needed where that is all. Erasing a person deletes it",
    ),
    reasons: {
      ...textParam(
        "Why it waits, as words that spaces separate; by default what an " +
          "order waits for",
      ),
      read: (_: string, text: string): readonly string[] =>
        text.split(" ").filter((reason) => /^\w{1,64}$/.test(reason))
          .slice(0, 20),
      only: "request" as const,
    },
    by: {
      ...needed(textParam("Who notes it")),
      operand: "<name>",
      isCaller: true as const,
    },
  },
  inBody: true,
  result: { schema: "Note", description: "The note as it is stored" },
  folds: true,
  conflicts: true,
  run: async (
    context,
    { entity, id, action = "note", text = "", reasons, by: author },
  ): Promise<Note> => {
    if (action === "note" && text === "") {
      throw new UsageError(
        `Missing ${context.named("text")}: the note is empty; write ` +
          "something, or acknowledge",
      );
    }
    const { entityId, waitsFor } = await aboutWhat(context, entity, id);
    const stored = await addNote(context.ledger.driver, {
      ...{ entity, entityId, action, reasons: reasons ?? waitsFor },
      ...{ text, author },
    }, context.nowMs);
    if (stored !== null) return stored;
    throw new CommandError(
      `Cannot note anything of ${
        printable(entityId)
      }: its person was erased, ` +
        "and a note may name a person",
    );
  },
  logged: ({ entity, entityId, action }) => ({
    ...{ noted: action, entity, entityId },
  }),
  says: (note, _, { columns }) => wrap(printable(noteText(note)), columns, 2),
});

/** One line about a note. */
function noteText(
  { entity, entityId, action, text, author, notedAt }: Note,
): string {
  const did = {
    note: "noted",
    acknowledge: "acknowledged it",
    reopen: "opened it again",
  }[action];
  return `${minuteText(notedAt)}  ${entity} ${entityId}: ${author} ${did}` +
    (text === "" ? "" : `: ${text}`);
}

/**
 * Which one is meant, and why it waits now.
 *
 * @throws {CommandError} When the ledger has none of that name.
 */
async function aboutWhat(
  context: OperationContext,
  entity: Note["entity"],
  id: string,
): Promise<{
  readonly entityId: string;
  readonly waitsFor: readonly string[];
}> {
  const { ledger, nowMs } = context;
  if (entity === "order") {
    const { order } = await findOrder(context, id);
    const { attention } = outcomeNow(order, nowMs);
    return { entityId: order.orderId, waitsFor: attention };
  }
  const waitsFor = [REASON[entity]];
  const isThere = entity === "user"
    ? await ledger.users.get(id) !== null
    : entity === "delivery"
    ? await deliveryDetail(ledger, id) !== null
    : (await ledger.subscriptions.list()).some(({ name }) => name === id);
  if (isThere) return { entityId: id, waitsFor };
  throw new CommandError(
    `No such ${entity}: ${printable(id)} is not in the ledger`,
    "not_found",
  );
}

/** Why anything but an order waits for a person. */
const REASON = {
  user: "verification_retry",
  delivery: "quarantined",
  subscription: "dead_letters",
} as const;
