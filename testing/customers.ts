import { defined } from "../core/guards.ts";
import type { Sandbox } from "../sandbox/mod.ts";
import type { Sale } from "../server/start/sale.ts";

/** How a customer's payment differs from what you asked for. */
export interface Payment {
  /** What is paid. @default {what the sale costs} */
  readonly amount?: string;
  /** Asset that is bought. @default {that of the sale} */
  readonly asset?: string;
  /** Its network. @default {that of the sale} */
  readonly network?: string;
  /** Address that it goes to. @default {that of the sale} */
  readonly wallet?: string;
}

/** An order of a customer. */
export interface PaidOrder {
  /** The order, as the service names it. */
  readonly orderId: string;
}

/** A sale, or the part of it that names it. */
export type SaleName = Pick<Sale, "sessionId" | "clickId">;

/**
 * What customers and strangers do; nothing is delivered before the shop
 * settles.
 */
export interface Customers {
  /** A customer pays, and the service delivers. */
  readonly pay: (sale: SaleName, payment?: Payment) => Promise<PaidOrder>;
  /** A customer pays, and the payment is declined, or fails for another code. */
  readonly fail: (
    sale: SaleName,
    failure?: { readonly code?: string },
  ) => Promise<PaidOrder>;
  /** The payment comes too late (4016): the service owes a refund. */
  readonly refund: (sale: SaleName) => Promise<PaidOrder>;
  /**
   * The service takes back what was paid: a claw-back.
   *
   * @throws {RangeError} When nothing was paid.
   */
  readonly reverse: (sale: SaleName) => Promise<PaidOrder>;
  /**
   * Somebody who knows the webhook address claims that a sale was paid. The
   * order that he names is unknown to the service.
   */
  readonly forge: (sale?: SaleName) => Promise<PaidOrder>;
}

/** What customers and strangers do. */
export function customers(sandbox: Sandbox): Customers {
  const ordering = <Given extends readonly unknown[]>(
    act: (...given: Given) => string,
  ) =>
  (...given: Given): Promise<PaidOrder> =>
    new Promise((resolve) => resolve({ orderId: act(...given) }));
  const order = (
    { sessionId, clickId }: SaleName,
    { amount, asset, network, wallet }: Payment = {},
  ) => {
    const { orderId } = sandbox.createOrder(defined({
      ...{ sessionId, clickId, network },
      currencyAmount: amount,
      commodity: asset,
      address: wallet,
    }));
    sandbox.advance(orderId, "pay");
    return orderId;
  };
  const fail = ordering(
    (sale: SaleName, failReason: string, errorText: string) => {
      const orderId = order(sale);
      sandbox.advance(orderId, "fail", { failReason, errorText });
      return orderId;
    },
  );
  return {
    pay: ordering((sale, payment) => {
      const orderId = order(sale, payment);
      for (const step of ["authorise", "transfer", "complete"] as const) {
        sandbox.advance(orderId, step);
      }
      return orderId;
    }),
    fail: (sale, { code = "4001" } = {}) => fail(sale, code, "Declined"),
    refund: (sale) => fail(sale, "4016", "Payment after timeout"),
    reverse: ordering(({ clickId }) => {
      const paid = sandbox.orders().findLast((one) => one.clickId === clickId);
      if (paid === undefined) {
        throw new RangeError(
          `Cannot reverse: nothing was paid under click id ${clickId}`,
        );
      }
      sandbox.advance(paid.orderId, "cancel");
      return paid.orderId;
    }),
    forge: ordering((sale) => {
      const { orderId } = sandbox.createOrder();
      sandbox.removeOrder(orderId);
      const fields = { click_id: sale?.clickId ?? "", order: { id: orderId } };
      sandbox.trigger({ type: "order_complete", fields });
      return orderId;
    }),
  };
}
