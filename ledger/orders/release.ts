import type { OrderFold } from "./order_fold.ts";
import { isFinal } from "./order_rank.ts";
import type { Release } from "./order_state.ts";
import { readingFacts } from "./reading_facts.ts";
import { otherFinals } from "./readings.ts";
import type { Resolved } from "./resolve_order.ts";
import { sessionMismatches } from "../anomalies/session_mismatches.ts";

/**
 * Whether the goods that an order pays for may be released.
 *
 * - `yes`: the service shows success, its readings have shown no other final
 *   status, and nothing that it shows differs, or differed before it was erased, from
 *   what the order's confirmed session asked for.
 * - `no`: the service shows another final status.
 * - `wait`: anything else, and a person may have to look.
 *
 * It depends only on readings of the service and on the partner's own sessions.
 * So a webhook can never change the decision.
 *
 * @param fold Folded facts of the order.
 * @param resolved Intermediate results of its state.
 * @returns The decision.
 */
export function decideRelease(
  fold: OrderFold,
  { session, assets }: Pick<Resolved, "session" | "assets">,
): Release {
  const { latest } = fold;
  if (latest === null || !isFinal(latest.status)) return "wait";
  if (latest.status !== "success") return "no";
  if (otherFinals(fold).length > 0) return "wait";
  if (latest.differs) return "wait";
  // A claimed session may be a forger's choice, so it proves nothing.
  if (session === null || session.trust !== "confirmed") return "yes";
  return sessionMismatches(readingFacts(latest), session, assets).length > 0
    ? "wait"
    : "yes";
}
