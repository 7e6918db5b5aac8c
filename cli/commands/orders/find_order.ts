import type { Ledger, OrderView } from "../../../ledger/mod.ts";
import type { Config } from "../../program/config.ts";
import { CommandError } from "../../program/exit_codes.ts";
import { pollAdvice } from "../../program/poll_advice.ts";

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
  const found = await ledger.orders.find(id);
  const [first, ...others] = found;
  if (first === undefined) {
    throw orderNotFound(id, await pollAdvice(ledger, config));
  }
  if (others.length > 0) {
    throw new CommandError(
      `Several orders share "${id}": ` +
        `${found.map((order) => order.orderId).join(", ")}; name one of them`,
    );
  }
  return first;
}

/** The error for an id that names no order. */
export function orderNotFound(id: string, advice: string): CommandError {
  return new CommandError(
    `No such order: the ledger has no order, external or click id "${id}"; ` +
      advice,
  );
}
