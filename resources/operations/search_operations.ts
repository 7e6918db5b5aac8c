import { PREFIX_AT_LEAST } from "../../ledger/for_resources.ts";
import { CommandError } from "../../core/settings/errors.ts";
import { needed, textParam } from "../../core/settings/params.ts";
import { attentionPage, findJson, searchedText } from "../queries/find.ts";
import { ORDER_FILTERS, PAGE } from "../queries/orders.ts";
import {
  attentionLines,
  foundLines,
  foundTable,
} from "../views/attention_view.ts";
import { NOT_TOLD, recordedText } from "../wording/phrases.ts";
import { pollAdvice } from "./find_order.ts";
import { type Operation, operation } from "./operation.ts";

/** `attention`. */
export const ATTENTION_LIST: Operation = operation({
  command: "attention",
  path: "/v1/attention",
  scope: "read",
  operationId: "listAttention",
  summary: "List the orders that need a person, the most urgent first",
  description:
    "From the ledger alone: refunds due, reversed payments, differing " +
    "amounts, stuck and forged orders. What a person delivered or refunded is " +
    "left out where that settles it, and listed again where the service shows " +
    "something else afterwards.",
  examples: ["", "refund_due --json"],
  params: {
    ...PAGE,
    kind: { ...ORDER_FILTERS.attention, place: "[kind]" },
  },
  result: {
    schema: "AttentionItem",
    description: "One page",
    many: { rows: "orders", first: "most urgent" },
  },
  folds: true,
  run: ({ ledger, nowMs }, query) => attentionPage(ledger, query, nowMs),
  says: ({ items }, { kind }, { columns }) =>
    items.length === 0
      ? "No order waits for a person"
      : attentionLines(items, columns, kind),
});

/** `find`. */
export const FIND: Operation = operation({
  command: "find",
  path: "/v1/find",
  scope: "read",
  operationId: "find",
  summary: "Find an order or user by any of its ids or references",
  description: "Order id, external order id, reference, click id, session, " +
    "transaction, wallet address, card id or user id, in any case, also as " +
    "`order YBR2MP`, as a link to an explorer, or as a hash that was " +
    `shortened; ${PREFIX_AT_LEAST} or more characters also match the beginning ` +
    "of an order id, external order id or reference, six or more that of the " +
    "others, and a part of a hash of the newest orders.",
  examples: ["27E28M"],
  params: {
    q: { ...needed(textParam("What to look for")), place: "<text>" },
  },
  result: {
    schema: "FindResult",
    description: "At most a hundred, whole matches first",
    many: "items",
  },
  folds: true,
  run: ({ ledger, nowMs }, { q }) => findJson(ledger, q, nowMs),
  refuses: async (context, { items, recorded: [latest] }, { q }) => {
    if (items.length > 0) return;
    if (searchedText(q).isContact) {
      throw new CommandError(`Nothing found. ${NOT_TOLD}`, "not_found");
    }
    const advice = () => pollAdvice(context);
    throw new CommandError(
      latest !== undefined
        ? `${recordedText(latest)}; ${await advice()}`
        : `Nothing found: no order or user of the ledger is named by "${q}"; ` +
          (q.trim().length < PREFIX_AT_LEAST
            ? `the beginning of an id needs ${PREFIX_AT_LEAST} characters`
            : await advice()),
      "not_found",
    );
  },
  says: ({ items, more }, _, { columns, nowMs }) => {
    const [first, ...others] = items;
    if (first === undefined) return "Nothing found";
    if (others.length === 0) return foundLines(first, columns, nowMs);
    return [
      foundTable(items, columns),
      ...(more
        ? ["", `More than these ${items.length} match; narrow your search`]
        : []),
    ];
  },
});
