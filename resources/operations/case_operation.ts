import { defined } from "../../core/guards.ts";
import {
  ATTENTION_KINDS,
  CASE_ACTIONS,
  LONGEST_NOTE,
} from "../../ledger/for_resources.ts";
import { CaseError, ReleaseError } from "../../ledger/mod.ts";
import { CommandError, UsageError } from "../../settings/errors.ts";
import { textParam, timeParam, wordParam } from "../../settings/params.ts";
import { type CaseJson, caseJson } from "../views/case_view.ts";
import { type Operation, operation } from "./operation.ts";

/** `case`. */
export const CHANGE_CASE: Operation = operation<CaseJson>({
  action: "case",
  path: "/v1/orders/{ref}/case",
  scope: "support",
  operationId: "changeCase",
  summary: "Record what you do about an order that waits for a person",
  description:
    "What is recorded holds until the service changes the order, or the order " +
    "waits for another reason; then the case is open again. A delivery is a " +
    "release by hand: no handler and no target gets its `order.release.yes` " +
    "afterwards, and neither of an order that was refunded.",
  example:
    "01KA00000000000000000000 refunded --reference RF-17 --by Ada --note 'told the customer'",
  params: {
    order: { ...textParam("the order"), required: true },
    change: {
      ...wordParam("what you do", CASE_ACTIONS),
      required: true,
    },
    by: { ...textParam("who does it"), required: true },
    note: textParam(
      `what is noted, at most ${LONGEST_NOTE} characters; erasing the order's ` +
        "person takes it away",
    ),
    reference: textParam(
      "reference of the refund, or of the purchase that was delivered; name " +
        "no customer: erasures keep it",
    ),
    since: timeParam("when the service was asked, now where it is left out"),
    seen: textParam(
      "why it waits as you see it, by commas: where it waits for something " +
        "else by now, nothing is recorded",
    ),
  },
  result: { schema: "Case", description: "The case, and its history" },
  run: async (ledger, { order = "", change, by = "", seen, ...rest }) => {
    const action = CASE_ACTIONS.find((one) => one === change);
    if (action === undefined) throw new UsageError(`Wrong change: ${change}`);
    const reasons = seen?.split(",").map((one) => one.trim()).filter(Boolean);
    const { note, reference, since } = rest;
    try {
      return caseJson(
        await ledger.cases.change(order, {
          change: action,
          by,
          ...defined({
            note,
            reference,
            since,
            seen: reasons &&
              ATTENTION_KINDS.filter((kind) => reasons.includes(kind)),
          }),
        }),
      );
    } catch (error) {
      throw refused(error);
    }
  },
  logged: ({ orderId }, { change, by }) => ({ orderId, change, person: by }),
  says: ({ orderId, case: found }) =>
    `Order ${orderId}: ${found?.message ?? "noted"}`,
});

/** What could not be recorded, in the words of commands and requests. */
function refused(error: unknown): unknown {
  if (!(error instanceof CaseError || error instanceof ReleaseError)) {
    return error;
  }
  const { code, message } = error;
  const cause = { cause: error };
  if (code === "invalid") return new UsageError(message, cause);
  if (code === "reference_missing") {
    return new UsageError(`${message} with --reference`, cause);
  }
  return new CommandError(
    message,
    code === "unknown_order" ? "not_found" : "failed",
  );
}
