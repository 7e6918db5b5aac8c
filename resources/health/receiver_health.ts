import type { Ledger, SubscriptionStatus } from "../../ledger/for_resources.ts";
import { readUnattended } from "../../ledger/for_resources.ts";
import { counted } from "../views/text.ts";
import { operands } from "../views/shell_word.ts";
import { type Finding, found } from "./finding.ts";
import { LIMITS } from "./limits.ts";

/**
 * Counting stops at this many transitions, because a look is made every few
 * seconds.
 */
const COUNTED = 1000;

/** Whether each handler and each target gets its transitions. */
export async function lookAtReceivers(
  { driver, subscriptions }: Pick<Ledger, "driver" | "subscriptions">,
  nowMs: number,
): Promise<readonly Finding[]> {
  const all = await subscriptions.list({ countUpTo: COUNTED });
  if (all.length === 0) return [found("receivers_none")];
  const before = new Date(nowMs - LIMITS.deliveryWaitsMs).toISOString();
  const unattended = await readUnattended(driver, before);
  return all.map((one) =>
    finding(one, unattended.find(({ name }) => name === one.name)?.since)
  );
}

function finding(
  { name, target, dead, retrying, behind, lastError }: SubscriptionStatus,
  idleSince: string | undefined,
): Finding {
  const who = target?.url ?? name;
  const facts = { dead, retrying, behind };
  const of = { about: name, facts };
  if (target !== null && target.offAt !== null) {
    return found("receiver_off", {
      ...of,
      since: target.offAt,
      more: `${who}, because it ${target.offReason}`,
      next: "When it wants webhooks again: rampkit subscriptions resume " +
        operands(name),
    });
  }
  if (dead > 0) {
    return found("dead_letters", {
      ...of,
      more: `${manyOf(dead)} to ${who}`,
      next: `Fix it, then: rampkit subscriptions retry ${operands(name)}`,
    });
  }
  if (idleSince !== undefined) {
    return found("receiver_idle", {
      ...of,
      since: idleSince,
      more: `${manyOf(behind)} for ${who}`,
    });
  }
  if (retrying > 0) {
    return found("receiver_failing", {
      ...of,
      more: `${manyOf(retrying)} to ${who}` +
        (lastError === null ? "" : `; it ${lastError}`),
    });
  }
  return found("receiver_works", {
    ...of,
    more: behind === 0
      ? `${who} is up to date`
      : `${who} is behind by ${manyOf(behind)}`,
  });
}

function manyOf(count: number): string {
  return `${count < COUNTED ? "" : "at least "}${counted(count, "transition")}`;
}
