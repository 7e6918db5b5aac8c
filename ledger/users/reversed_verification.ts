import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import type { VerificationMachine } from "../machines/verification_machine.ts";
import { isKnownVerification } from "../machines/verification_rank.ts";
import type { VerificationReversed } from "../anomalies/anomaly.ts";

/**
 * The anomaly of a verification that the service set back, by the moves of its
 * machine. Every state that readings have shown comes before the latest.
 *
 * @param machine Which verification.
 * @param read State by the latest reading; null when it states none.
 * @param shown States that readings have shown.
 * @returns One anomaly, or none.
 */
export function reversedVerification(
  machine: VerificationMachine,
  read: VerificationState | null,
  shown: readonly VerificationState[],
): VerificationReversed[] {
  if (read === null) return [];
  const before = shown.filter((state) =>
    state !== read &&
    machine.moves[rowOf(state)][rowOf(read)].anomaly !== null
  );
  return before.length === 0
    ? []
    : [{ kind: "verification_reversed", field: machine.name, read, before }];
}

function rowOf(state: VerificationState) {
  return isKnownVerification(state) ? state : "unlisted";
}
