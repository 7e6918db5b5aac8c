import type { WaitingDeliveries } from "../../ledger/types.ts";
import { span } from "./span.ts";

/**
 * Says that deliveries wait, in one sentence.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function waitingText(
  { count, oldestMs, ended }: WaitingDeliveries,
  nowMs: number,
): string {
  const what = count === 1
    ? "1 answered delivery waits"
    : `${count} answered deliveries wait`;
  const age = span(Math.max(0, nowMs - oldestMs));
  const sentence = `${what} to go into the ledger, the oldest for ${age}`;
  return ended === 0
    ? sentence
    : `${sentence}; ${ended} of them may wait in the files of an ended ` +
      "process, from where a running serve takes them";
}
