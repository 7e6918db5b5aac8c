import type { Ledger, OrderState } from "../../../ledger/mod.ts";
import type { Sandbox } from "../../../sandbox/mod.ts";
import type { DemoClock } from "./demo_clock.ts";
import { PRODUCT } from "./shop.ts";
import { hex } from "@scure/base";

/** Longer than a claim may go without the service agreeing. */
const LEAP_MS = 10 * 60_000 + 5_000;

/** What a person can do in the demo beside buying. */
export interface DemoActions {
  /**
   * Posts a false completion to the webhook address, as anybody could who
   * learnt it.
   *
   * @returns False when the ledger has no such order.
   */
  forge(orderId: string): Promise<boolean>;
  /** Starts an order that will not be paid, and returns its id. */
  startUnpaid(): string;
  /** Lets ten minutes and a little more pass. */
  leap(): Promise<void>;
}

/** What the actions need. */
export interface DemoActionsOptions {
  /** Where the forger reads an order of their own. */
  readonly ledger: Ledger;
  /** The service, which knows the webhook address. */
  readonly sandbox: Sandbox;
  /** The clock that leaps. */
  readonly clock: DemoClock;
  /** Called with a forged body before it is posted. */
  readonly onForge: (body: string) => void;
  /** Runs a leap of the clock, and lets the poller look right after it. */
  readonly leapOver: (act: () => Promise<void>) => Promise<void>;
  /** Called when the clock speeds up, and when it slows down again. */
  readonly onPace: () => void;
}

/** Makes what the buttons of the page do. */
export function demoActions(
  { ledger, sandbox, clock, onForge, leapOver, onPace }: DemoActionsOptions,
): DemoActions {
  let leaping: Promise<void> | null = null;
  return {
    async forge(orderId) {
      const order = await ledger.orders.get(orderId);
      const { webhookUrl } = sandbox.delivery;
      if (order === null || webhookUrl === null) return false;
      const body = forgedCompletion(
        order,
        (length) => crypto.getRandomValues(new Uint8Array(length)),
      );
      onForge(body);
      const answer = await fetch(webhookUrl, { method: "POST", body });
      await answer.body?.cancel();
      return answer.ok;
    },
    startUnpaid() {
      const { commodity, network, currencyAmount, wallet } = PRODUCT;
      const { orderId } = sandbox.createOrder({
        commodity,
        network,
        currencyAmount,
        cryptoType: "simple",
        address: wallet,
      });
      sandbox.advance(orderId, "pay");
      return orderId;
    },
    leap() {
      leaping ??= leapOver(() => clock.leap(LEAP_MS, onPace))
        .finally(() => leaping = null);
      return leaping;
    },
  };
}

/**
 * The body of a false `order_complete`: everything a buyer knows of an own
 * order, and a transaction that never was. Nothing in it gives it away, since
 * the service signs nothing.
 *
 * @param order The order that was not paid.
 * @param randomBytes Chance, for the transaction.
 */
export function forgedCompletion(
  order: OrderState,
  randomBytes: (length: number) => Uint8Array,
): string {
  return JSON.stringify({
    type: "order_complete",
    click_id: order.clickId ?? "",
    ...(order.sessions[0] !== undefined && {
      hpp_session_id: order.sessions[0],
    }),
    order: {
      id: order.orderId,
      base: order.commodity,
      base_amount: order.cryptoAmount,
      quote: order.currency,
      quote_amount: order.currencyAmount,
      address: order.address,
      transaction_id: `0x${hex.encode(randomBytes(32))}`,
      external_order_id: order.externalOrderId,
    },
    ...(order.userId !== null && {
      user: {
        user_id: order.userId,
        verification_status: {
          fkyc: { state: "success" },
          lkyc: { state: "success" },
        },
      },
    }),
  });
}
