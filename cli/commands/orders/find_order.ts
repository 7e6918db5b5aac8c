import type { Ledger, OrderView } from "../../../ledger/mod.ts";
import type { Config } from "../../program/config.ts";
import { CommandError } from "../../program/exit_codes.ts";
import { pollAdvice } from "../../program/poll_advice.ts";
import { resolveOrder } from "../../queries/order.ts";

/** What names an order, for help texts. */
export const ORDER_ID =
  "order id, external order id, or a click id that leads to one order";

/**
 * Finds the order that an id names.
 *
 * @throws {CommandError} When there is none, or several.
 */
export async function findOrder(
  ledger: Ledger,
  config: Config,
  id: string,
): Promise<OrderView> {
  const resolved = await resolveOrder(ledger, id);
  if (resolved.found === "one") return resolved.order;
  if (resolved.found === "none") {
    throw orderNotFound(id, await pollAdvice(ledger, config));
  }
  throw new CommandError(
    `Several orders share "${id}": ` +
      `${resolved.orderIds.join(", ")}; name one of them`,
  );
}

/** The error for an id that names no order. */
export function orderNotFound(id: string, advice: string): CommandError {
  return new CommandError(
    `No such order: the ledger has no order, external or click id "${id}"; ` +
      advice,
    "not_found",
  );
}
