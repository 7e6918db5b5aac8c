import { setImmediate } from "node:timers";

/** One turn of the event loop: every promise that can settle by itself does. */
export function loopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => resolve()));
}
