import { compareTimes } from "../events/time.ts";
import type { Claim, OrderFold } from "../orders/order_fold.ts";
import { isFinal, isKnown, orderRank } from "../machines/order_machine.ts";
import {
  claimState,
  contestingClaims,
  orderMove,
  otherFinals,
} from "../orders/order_status.ts";
import type { Status } from "../machines/transition.ts";
import type { StatusAnomaly } from "./anomaly.ts";

/** What is odd about the status of an order. */
export function statusAnomalies(fold: OrderFold): StatusAnomaly[] {
  const { latest, absentAt, seenAt } = fold;
  const found: StatusAnomaly[] = [];
  const contesting = contestingClaims(fold);
  if (latest !== null && contesting.length > 0) {
    const kind = "contested";
    found.push({ kind, read: latest.status, claimed: contesting });
  }
  const finals = fold.claims.filter((claim) =>
    isFinal(claim.status) && claimState(fold, claim) !== "contradicted"
  );
  if (
    finals.length > 1 &&
    !finals.every((claim) => claimState(fold, claim) === "observed")
  ) {
    found.push({
      kind: "contradictory_webhooks",
      claimed: finals.map(({ status }) => status),
    });
  }
  for (const claim of fold.claims) {
    if (
      claimState(fold, claim) === "contradicted" && !isOvertaken(fold, claim)
    ) {
      found.push({
        kind: "contradicted",
        claimed: claim.status,
        read: latest?.status ?? null,
      });
    }
  }
  const before = otherFinals(fold);
  const backwards = regression(fold);
  if (latest !== null && before.length > 0) {
    found.push({ kind: "final_changed", read: latest.status, before });
  } else if (backwards !== null) {
    found.push(backwards);
  }
  if (
    absentAt !== null &&
    (seenAt === null || compareTimes(absentAt, seenAt) > 0)
  ) {
    found.push({ kind: "absent", wasObserved: seenAt !== null });
  }
  if (latest !== null && !isKnown(latest.status)) {
    found.push({ kind: "unrecognised_status", read: latest.status });
  }
  return found;
}

/**
 * Whether a claim was overtaken: the latest reading ranks at least as high and
 * the claim is not final, so that nothing depends on it any more.
 */
function isOvertaken(fold: OrderFold, claim: Claim): boolean {
  return fold.latest !== null && !isFinal(claim.status) &&
    orderRank(fold.latest.status) >= orderRank(claim.status);
}

/**
 * The service went back, and has reached no other final status since. Going
 * back from a final status and reaching it again is a regression too.
 */
function regression({ observedStatuses }: OrderFold): StatusAnomaly | null {
  for (const { status: from, first: fromAt } of observedStatuses) {
    if (fromAt === "") continue;
    const after = observedStatuses.find(({ status, last }) =>
      goesBack(from, status) && last !== "" && compareTimes(last, fromAt) > 0
    );
    if (after !== undefined) {
      const { status: to, last: toAt } = after;
      return { kind: "regression", from, fromAt, to, toAt };
    }
  }
  return null;
}

function goesBack(from: Status, to: Status): boolean {
  const { anomaly } = orderMove(from, to);
  return isKnown(to) &&
    (anomaly === "regression" || anomaly === "final_changed");
}
