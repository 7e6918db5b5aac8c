import type { Io } from "./io.ts";

/** A command's work: gives an exit code, or nothing when all is fine. */
export type Action<Args extends unknown[]> = (
  ...args: Args
) => number | void | Promise<number | void>;

/** What commands are built with. */
export interface Cli {
  /** The terminal. */
  readonly io: Io;
  /** Wraps a command's work so that its exit code becomes the program's. */
  readonly run: <Args extends unknown[]>(
    action: Action<Args>,
  ) => (...args: Args) => Promise<void>;
}
