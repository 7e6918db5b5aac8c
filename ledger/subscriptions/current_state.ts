import type { OrderState } from "../orders/order_state.ts";
import type { UserState } from "../users/user_state.ts";
import type { Driver } from "../store/driver/driver.ts";
import { selectStateAndPosition } from "../store/tables/state_pages.ts";
import type { Transition } from "../projection/transition.ts";

/**
 * Reads the state in which the order or user of a transition is now: it may
 * have moved on since.
 *
 * @param transition The transition.
 * @returns A state that has the transition's event in it; null when there is
 * none.
 */
export async function readCurrentState(
  driver: Driver,
  transition: Pick<Transition, "entity" | "id" | "position">,
): Promise<OrderState | UserState | null> {
  const { entity, id, position } = transition;
  const read = async (mode: "read" | "write") => {
    const [result] = await driver.batch(
      [selectStateAndPosition(entity, id)],
      mode,
    );
    const [at, state] = result?.rows[0] ?? [];
    return { at: Number(at ?? 0), state: state as string | null | undefined };
  };
  let found = await read("read");
  // A replica may be behind the log that the transition was read from.
  if (found.at < position) found = await read("write");
  return typeof found.state === "string" ? JSON.parse(found.state) : null;
}
