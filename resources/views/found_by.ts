import type { Trust } from "../../ledger/mod.ts";
import { operands } from "./shell_word.ts";
import { printable } from "../../core/printable.ts";
import { wrap } from "./text.ts";

/** How sure it is that an order belongs to the reference it was found by. */
export interface FoundBy {
  /**
   * `confirmed`: the service has shown it under the reference, or the reference
   * is its order id. `claimed`: only webhooks name it with the reference.
   */
  readonly trust: Trust;
  /** Other orders, which only webhooks name with the reference. */
  readonly alsoClaimed: readonly string[];
}

/** What webhooks alone say of the reference that an order was found by. */
export function foundByLines(
  reference: string,
  { trust, alsoClaimed }: FoundBy,
  columns: number | null,
): string[] {
  const name = printable(reference);
  if (trust === "claimed") {
    return [
      "",
      wrap(
        `Only webhooks name this order with "${name}". Anybody can send a ` +
          `webhook: the service has not shown the order under it.`,
        columns,
      ),
    ];
  }
  const [first, ...others] = alsoClaimed;
  if (first === undefined) return [];
  return [
    "",
    wrap(
      others.length === 0
        ? `Webhooks also name order ${printable(first)} with "${name}". The ` +
          `service has not shown that order under it.`
        : `Webhooks also name ${alsoClaimed.length} other orders with ` +
          `"${name}". The service has not shown them under it: ` +
          `rampkit find ${operands(reference)}`,
      columns,
    ),
  ];
}
