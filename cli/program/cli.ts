import type { Io } from "./io.ts";

/** A command's work: resolves to an exit code, or to nothing when all is fine. */
export type Action<Args extends unknown[]> = (
  ...args: Args
) => Promise<number | void>;

/** What the parts of the command line are built with. */
export interface Cli {
  /** The terminal. */
  readonly io: Io;
  /** Wraps a command's work so that its exit code becomes the program's. */
  readonly run: <Args extends unknown[]>(
    action: Action<Args>,
  ) => (...args: Args) => Promise<void>;
}
