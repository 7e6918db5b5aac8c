import { VARIABLES } from "../../settings/settings.ts";
import { CommandError } from "../../settings/errors.ts";
import type { OrderLook } from "../../witness/mod.ts";
import { nothingToLookAt, VERDICT } from "../wording/witness.ts";
import { findOrder, ORDER_REF } from "./find_order.ts";
import { type Operation, operation } from "./operation.ts";

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
  result: { schema: "OrderLook", description: "What they showed" },
  folds: true,
  conflicts: true,
  run: async (context, { ref }) => {
    const { order: { orderId } } = await findOrder(context, ref);
    const { lookAtChain } = context;
    if (lookAtChain) return await lookAtChain(orderId);
    throw new CommandError(
      `No chain nodes are known here: set ${VARIABLES.chainsFile}`,
    );
  },
  logged: ({ orderId, look, recorded }) => ({
    orderId,
    verdict: look?.verdict ?? null,
    recorded,
  }),
  says: lookLine,
});

/** What a look at an order came to, in one line. */
export function lookLine({ orderId, nothing, look }: OrderLook): string {
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
