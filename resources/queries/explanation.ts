import type { Ledger } from "../../ledger/mod.ts";
import { readFreshness } from "../../sync/mod.ts";
import {
  type ExplanationJson,
  explanationJson,
} from "../views/explanation_view.ts";
import { type OrderJson, orderJson } from "../views/order_view.ts";

/**
 * What became of an order, as `orders explain --json` prints it.
 *
 * @throws {RangeError} When it is not a time.
 */
export async function orderExplanation(
  ledger: Ledger,
  orderId: string,
  nowMs: number,
  time?: string,
): Promise<ExplanationJson | null> {
  const explanation = await ledger.explain(orderId, time);
  if (explanation === null) return null;
  if (time !== undefined) {
    return explanationJson(explanation, Date.parse(time), null);
  }
  const { driver } = ledger;
  const freshness = await readFreshness(driver, "order", orderId, nowMs);
  return explanationJson(explanation, nowMs, freshness);
}

/**
 * What was known of an order at a time, as `orders explain --as-of --json`
 * prints it.
 *
 * @throws {RangeError} When it is not a time.
 */
export async function orderAsOf(
  ledger: Ledger,
  orderId: string,
  time: string,
): Promise<OrderJson | null> {
  const then = await ledger.asOf(orderId, time);
  return then && orderJson(then, Date.parse(time));
}
