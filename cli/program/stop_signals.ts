/**
 * How long a second signal still belongs to the first, ms. One Ctrl-C comes
 * twice where a program was started by another that passes signals on, as a
 * task runner does: once from the terminal and once from there.
 */
export const SAME_PRESS_MS = 500;

/** What signals lead to. */
export interface StopSignals {
  /** Asks the work to end. */
  readonly stop: () => void;
  /** Ends the process. */
  readonly end: () => void;
  /** A clock that only goes forward, ms. */
  readonly now: () => number;
}

/**
 * Takes the signals that ask a process to end: the first asks the work to end,
 * a later one ends the process, for the person who will not wait.
 *
 * @returns What to call at each signal.
 */
export function stopSignals({ stop, end, now }: StopSignals): () => void {
  let firstAt: number | null = null;
  return () => {
    if (firstAt === null) {
      firstAt = now();
      stop();
    } else if (now() - firstAt >= SAME_PRESS_MS) {
      end();
    }
  };
}
