import { isPolled } from "../../ledger/for_sync.ts";
import { CommandError } from "../../core/settings/errors.ts";
import { needed, textParam } from "../../core/settings/params.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { type ResolvedOrder, resolveOrder } from "../queries/orders.ts";
import type { FoundBy } from "../views/order_view.ts";
import type { OperationContext } from "./operation.ts";

/** What names an order. */
export const ORDER_REF = {
  ...needed(textParam(
    "Order id, external order id, your reference, or a click or session id " +
      "that leads to one order",
  )),
  place: "<id>",
} as const;

/** An order that a reference names, and how it was found. */
export type FoundOrder = ResolvedOrder & { readonly found: "one" };

/** A reference that leads to several orders. */
export class SeveralOrdersError extends CommandError {
  /** The orders. */
  readonly orderIds: readonly string[];
  /** How sure it is that they belong to the reference. */
  readonly foundBy: FoundBy;

  /** @param reference What was asked for. */
  constructor(
    reference: string,
    { orderIds, foundBy }: ResolvedOrder & { readonly found: "several" },
  ) {
    const ids = orderIds.join(", ");
    super(
      foundBy.trust === "confirmed"
        ? `Several orders share "${reference}": ${ids}; name one of them`
        : `Only webhooks name "${reference}", with several orders: ${ids}; ` +
          "the service has shown none of them under it; name one of them",
    );
    this.orderIds = orderIds;
    this.foundBy = foundBy;
  }
}

/**
 * Finds the order that a reference names.
 *
 * @throws {CommandError} When there is none, or several.
 */
export async function findOrder(
  context: OperationContext,
  reference: string,
): Promise<FoundOrder> {
  const resolved = await resolveOrder(context.ledger, reference);
  if (resolved.found === "one") return resolved;
  if (resolved.found === "several") {
    throw new SeveralOrdersError(reference, resolved);
  }
  throw new CommandError(
    "No such order: the ledger has no order, external, click or session id, " +
      `and no reference of yours, "${reference}"; ${await pollAdvice(context)}`,
    "not_found",
  );
}

/**
 * What to do about an order or user that the ledger does not know. A poll is
 * advised only where one can be made: not without a key, and not beside another
 * poller, which has the ledger to itself.
 */
export async function pollAdvice(
  { ledger, service }: Pick<OperationContext, "ledger" | "service">,
): Promise<string> {
  if (await isPolled(ledger.driver)) {
    return "a poller works on this ledger and reads what the service has, so " +
      "look at the id, or again in a minute";
  }
  return "what the service has is read by: rampkit poll --once" +
    (service !== null ? "" : ` (with ${VARIABLES.apiKey} set)`);
}
