import type { OrderState } from "../../ledger/mod.ts";
import { span } from "../wording/span.ts";

/**
 * How old an order is, and how long ago it changed, by the service's times;
 * null where the service has stated none.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function ageText(
  { createdAt, changedAt }: Pick<OrderState, "createdAt" | "changedAt">,
  nowMs: number,
): string | null {
  if (createdAt === null) return null;
  const age = ago(createdAt, nowMs);
  return changedAt === null || changedAt === createdAt
    ? `created ${age}`
    : `created ${age}, changed ${ago(changedAt, nowMs)}`;
}

function ago(time: string, nowMs: number): string {
  const ms = nowMs - Date.parse(time);
  return ms < 0 ? `in the future, at ${time}` : `${span(ms)} ago`;
}
