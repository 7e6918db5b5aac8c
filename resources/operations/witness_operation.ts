import { CommandError } from "../../core/settings/errors.ts";
import { timeParam } from "../../core/settings/params.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import type { OrderLook } from "../../witness/mod.ts";
import { fitted } from "../views/text.ts";
import { nothingToLookAt, VERDICT } from "../wording/witness.ts";
import { findOrder, ORDER_REF } from "./find_order.ts";
import { type Operation, operation } from "./operation.ts";

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
