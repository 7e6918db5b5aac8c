import { defined } from "../../core/guards.ts";
import {
  ATTENTION_KINDS,
  CASE_ACTIONS,
  LONGEST_NOTE,
} from "../../ledger/for_resources.ts";
import { CommandError } from "../../settings/errors.ts";
import {
  needed,
  textParam,
  timeParam,
  wordParam,
} from "../../settings/params.ts";
import { caseJson, caseLines } from "../views/case_view.ts";
import { findOrder, ORDER_REF } from "./find_order.ts";
import { type Operation, operation } from "./operation.ts";
import { refusedRecord } from "./refused.ts";

const ORDER = { ...ORDER_REF, place: "<order>" } as const;

/** `case`. */
export const CASE: Operation = operation({
  command: "case",
  path: "/v1/orders/{ref}/case",
  scope: "read",
  operationId: "getCase",
  summary: "Show the case of an order: what people did about it",
  examples: ["01KA00000000000000000000 asked --by Ada"],
  params: { ref: ORDER },
  result: { schema: "Case", description: "The case, and its history" },
  folds: true,
  run: async (context, { ref }) => {
    const { order: { orderId } } = await findOrder(context, ref);
    const found = await context.ledger.cases.get(orderId);
    if (found !== null) return caseJson(found);
    throw new CommandError(`There is no order ${orderId}`, "not_found");
  },
  says: (found, _, { columns }) => caseLines(found, columns),
});

/** `case` with what was done. */
export const CHANGE_CASE: Operation = operation({
  command: "case",
  path: "/v1/orders/{ref}/case",
  scope: "support",
  operationId: "changeCase",
  summary: "Record what you do about an order that waits for a person",
  description:
    "What is recorded holds until the service changes the order, or the order " +
    "waits for another reason; then the case is open again. A delivery is a " +
    "release by hand: no handler and no target gets its `order.release.yes` " +
    "afterwards, and neither of an order that was refunded.",
  examples: [
    "01KA00000000000000000000 refunded --reference RF-17 --by Ada " +
    "--note 'told the customer'",
  ],
  params: {
    ref: ORDER,
    change: {
      ...needed(wordParam("What you do", CASE_ACTIONS)),
      place: "[change]",
    },
    by: {
      ...needed(textParam("Who does it")),
      operand: "<name>",
      isCaller: true as const,
    },
    note: textParam(
      `A note, at most ${LONGEST_NOTE} characters; erasing the order's ` +
        "person deletes it",
    ),
    reference: textParam(
      "Reference of the refund, or of the purchase that was delivered; name " +
        "no customer: erasures keep it",
    ),
    since: {
      ...timeParam("When the service was asked; now by default"),
      operand: "<time>",
    },
    seen: {
      // A page that shows an order which waits for nothing says that too.
      ...textParam(
        "The reasons for which you see it wait, separated by commas; if it " +
          "now waits for others, nothing is recorded",
      ),
      read: (_: string, text: string) => text,
      operand: "<reasons>",
    },
  },
  inBody: true,
  result: { schema: "Case", description: "The case, and its history" },
  folds: true,
  conflicts: true,
  run: async (context, { ref, change, by, seen, ...rest }) => {
    const { order: { orderId } } = await findOrder(context, ref);
    const reasons = seen?.split(",").map((one) => one.trim());
    const { note, reference, since } = rest;
    const recorded = await context.ledger.cases.change(orderId, {
      change,
      by,
      ...defined({
        note,
        reference,
        since,
        seen: reasons &&
          ATTENTION_KINDS.filter((kind) => reasons.includes(kind)),
      }),
    }).catch(refusedRecord(context.named("reference")));
    return caseJson(recorded);
  },
  logged: ({ orderId }, { change, by }) => ({ orderId, change, person: by }),
  says: ({ orderId, case: found }) =>
    `Order ${orderId}: ${found?.message ?? "noted"}`,
});
