import { CommanderError } from "commander";
import { messageOf } from "../../core/guards.ts";
import { printable } from "../views/printable.ts";
import { EXIT, UsageError } from "./exit_codes.ts";
import { type Io, note } from "./io.ts";
import { redact } from "./redact.ts";
import { isStop } from "./stoppable.ts";

/** Says what went wrong, free of secrets, and gives the exit code for it. */
export function reportError(error: unknown, io: Io): number {
  // Commander has already printed its message, or help was asked for.
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  }
  if (isStop(error, io.signal)) {
    note(
      io,
      "Stopped before the end; what is stored stays, nothing else was changed",
    );
    return EXIT.failed;
  }
  const message = messageOf(error);
  io.err(`${printable(redact(message, io.env))}\n`);
  return error instanceof UsageError ? EXIT.usage : EXIT.failed;
}
