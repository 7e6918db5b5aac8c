import type { OrderInContext, Outcome } from "../../ledger/for_resources.ts";
import { declinedMessage, OUTCOME_WORDS } from "../wording/outcome.ts";
import { BY_HAND, NOT_SENT } from "../wording/release.ts";
import { ARRIVED } from "../wording/witness.ts";
import { operands, shellWord } from "./shell_word.ts";

/** An order, and its outcome now. */
interface Decided {
  /** The order. */
  readonly order: OrderInContext;
  /** Its outcome. */
  readonly outcome: Outcome;
}

/** The next step for staff about an order: the row says it. */
export function nextStep({ order, outcome }: Decided): string {
  const dealt = handWords({ order, outcome });
  if (dealt !== null) return dealt.next;
  const { next: usual, nextOf } = OUTCOME_WORDS[outcome.code];
  const next = nextOf?.(order) ?? usual;
  const key = order.context?.withheld ?? null;
  if (key === null) return next;
  const fire = `rampkit subscriptions fire ${operands(key)}`;
  return outcome.release === "yes"
    ? NOT_SENT.yes(fire, `rampkit release ${shellWord(order.orderId)}`)
    : `${next} ${NOT_SENT.taken(fire)}`;
}

/** What the customer of an order may be told. */
export function customerMessage(decided: Decided): string {
  const dealt = handWords(decided);
  if (dealt !== null) return dealt.customer;
  const { order, outcome: { code } } = decided;
  const { customer } = OUTCOME_WORDS[code];
  // Only a final look says that it has arrived, and only where all of it has.
  if (
    code === "session_matched" && order.facts.chain === "agrees" &&
    order.witness?.verdict === "delivered"
  ) return ARRIVED;
  // Of a declined payment its code has words of its own.
  return code === "declined"
    ? declinedMessage(order.confirmed?.failReason ?? "") ?? customer
    : customer;
}

/**
 * The words for what a person did, where nothing else is left to do. As far as
 * is known, nobody has paid for what was delivered of an order that did not
 * succeed.
 */
function handWords({ order, outcome }: Decided) {
  const { byHand } = order;
  if (byHand === null || outcome.attention.length > 0) return null;
  return byHand.outcome === "delivered" && order.facts.shown !== "success"
    ? null
    : BY_HAND[byHand.outcome];
}
