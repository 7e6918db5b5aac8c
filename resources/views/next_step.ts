import type { OrderInContext, OutcomeNow } from "../../ledger/for_resources.ts";
import { CASE } from "../wording/case.ts";
import { declinedMessage, OUTCOME_WORDS } from "../wording/outcome.ts";
import { NOT_SENT } from "../wording/release.ts";
import { ARRIVED } from "../wording/witness.ts";
import { operands, shellWord } from "./shell_word.ts";

/** An order, and its outcome now. */
interface Decided {
  /** The order. */
  readonly order: OrderInContext;
  /** Its outcome. */
  readonly outcome: OutcomeNow;
}

/** The next step for staff about an order: the row says it. */
export function nextStep({ order, outcome }: Decided): string {
  const dealt = caseWords({ order, outcome })?.next ?? null;
  if (dealt !== null) return dealt;
  const { next } = OUTCOME_WORDS[outcome.code];
  const key = order.context?.withheld ?? null;
  if (key === null) return next;
  const fire = `rampkit subscriptions fire ${operands(key)}`;
  return outcome.release === "yes"
    ? NOT_SENT.yes(fire, `rampkit release ${shellWord(order.orderId)}`)
    : `${next} ${NOT_SENT.taken(fire)}`;
}

/** What the customer of an order may be told. */
export function customerMessage(decided: Decided): string {
  const dealt = caseWords(decided)?.customer ?? null;
  if (dealt !== null) return dealt;
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
 * The words of the case. As far as is known, nobody has paid for what was
 * delivered of an order that did not succeed.
 */
function caseWords({ order, outcome }: Decided) {
  const { case: found } = outcome;
  if (found === null) return null;
  return found.state === "delivered" && order.facts.shown !== "success"
    ? null
    : CASE[found.state];
}
