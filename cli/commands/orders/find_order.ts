import type { Ledger } from "../../../ledger/mod.ts";
import type { Config } from "../../../settings/config.ts";
import { CommandError } from "../../../settings/errors.ts";
import { pollAdvice } from "../../program/poll_advice.ts";
import {
  type ResolvedOrder,
  resolveOrder,
} from "../../../resources/queries/order.ts";

/** What names an order, for help texts. */
export const ORDER_ID =
  "order id, external order id, your reference, or a click or session id " +
  "that leads to one order";

/**
 * Finds the order that an id names.
 *
 * @throws {CommandError} When there is none, or several.
 */
export async function findOrder(
  ledger: Ledger,
  config: Config,
  id: string,
): Promise<ResolvedOrder & { readonly found: "one" }> {
  const resolved = await resolveOrder(ledger, id);
  if (resolved.found === "one") return resolved;
  if (resolved.found === "none") {
    throw orderNotFound(id, await pollAdvice(ledger, config));
  }
  const { orderIds, foundBy } = resolved;
  throw new CommandError(
    foundBy.trust === "confirmed"
      ? `Several orders share "${id}": ${orderIds.join(", ")}; name one of them`
      : `Only webhooks name "${id}", with several orders: ` +
        `${orderIds.join(", ")}; the service has shown none of them under ` +
        `it; name one of them`,
  );
}

/** The error for an id that names no order. */
export function orderNotFound(id: string, advice: string): CommandError {
  return new CommandError(
    `No such order: the ledger has no order, external, click or session id, and no ` +
      `reference of yours, "${id}"; ` +
      advice,
    "not_found",
  );
}
