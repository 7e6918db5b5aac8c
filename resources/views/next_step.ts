import type { HandOutcome, OrderState } from "../../ledger/mod.ts";
import type { OrderInContext, Outcome } from "../../ledger/for_resources.ts";
import { declinedMessage, OUTCOME_WORDS } from "../wording/outcome.ts";
import { BY_HAND, NOT_TOLD } from "../wording/release.ts";
import { operands, shellWord } from "./shell_word.ts";

/** An order, and what it has come to now. */
interface Decided {
  /** The order. */
  readonly order: OrderInContext;
  /** What it has come to. */
  readonly outcome: Outcome;
}

/** The next step for staff about an order: the row says it. */
export function nextStep({ order, outcome }: Decided): string {
  const hand = dealtWith({ order, outcome });
  if (hand !== null) return BY_HAND[hand].next;
  const { next } = OUTCOME_WORDS[outcome.code];
  const key = order.context?.withheld ?? null;
  if (key === null) return next;
  const fire = `rampkit subscriptions fire ${operands(key)}`;
  return outcome.release === "yes"
    ? NOT_TOLD.yes(fire, `rampkit release ${shellWord(order.orderId)}`)
    : `${next} ${NOT_TOLD.taken(fire)}`;
}

/** What the customer of an order may be told. */
export function customerMessage(decided: Decided): string {
  const hand = dealtWith(decided);
  if (hand !== null) return BY_HAND[hand].customer;
  const { order: { confirmed }, outcome: { code } } = decided;
  const { customer } = OUTCOME_WORDS[code];
  // Of a declined payment its code has words of its own.
  return code === "declined"
    ? declinedMessage(confirmed?.failReason ?? "") ?? customer
    : customer;
}

/**
 * What a person did, where nobody has to look any more. What was delivered of
 * an order that is no success has not been paid for as far as is known.
 */
function dealtWith(
  { order: { byHand, facts }, outcome: { attention } }: {
    readonly order: Pick<OrderState, "byHand" | "facts">;
    readonly outcome: Pick<Outcome, "attention">;
  },
): HandOutcome | null {
  if (byHand === null || attention.length > 0) return null;
  return byHand.outcome === "refunded" || facts.shown === "success"
    ? byHand.outcome
    : null;
}
