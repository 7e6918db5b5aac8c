import type { OrderState } from "../states/order_state.ts";
import type { Transition } from "../machines/transition.ts";
import type { UserState } from "../users/user_state.ts";

/**
 * Whether an order or user still shows what a transition says it entered; of a
 * release, whether it is still decided so.
 *
 * @param transition What was entered.
 * @param state The order or user as it is now; null when there is none.
 */
export function isCurrent(
  { machine, status, trust, logged }: Pick<
    Transition,
    "machine" | "status" | "trust" | "logged"
  >,
  state: OrderState | UserState | null,
): boolean {
  if (state === null) return false;
  if (machine === "lkyc" || machine === "fkyc") {
    return "verification" in state && state.verification[machine] === status &&
      state.verificationTrust[machine] === trust;
  }
  if (logged !== null) {
    return "release" in state && state.release === logged.release;
  }
  if (machine === "witness") {
    return "witness" in state && state.witness?.verdict === status;
  }
  if (machine === "ban") {
    return "banned" in state && state.banned !== null &&
      state.banned === (status === "banned");
  }
  return state.status === status && state.trust === trust;
}
