import { CommanderError } from "commander";
import { messageOf } from "../../core/guards.ts";
import { printable, printableJson } from "../../resources/views/printable.ts";
import { errorJson, STOPPED } from "./error_json.ts";
import { EXIT, UsageError } from "../../settings/errors.ts";
import { type Io, note } from "./io.ts";
import { redact } from "../../settings/redact.ts";
import { isStop } from "../../settings/stoppable.ts";

/**
 * Says what went wrong, free of secrets, and gives the exit code for it.
 *
 * @param json Whether as one JSON object, for scripts.
 */
export function reportError(error: unknown, io: Io, json: boolean): number {
  // Help or the version was asked for.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.fine;
  if (json) {
    const report = errorJson(error, io);
    io.err(`${printableJson(report)}\n`);
    return report.error.exitCode;
  }
  // Commander has already printed its message.
  if (error instanceof CommanderError) return EXIT.usage;
  if (isStop(error, io.signal)) {
    note(io, STOPPED);
    return EXIT.failed;
  }
  const message = messageOf(error);
  io.err(`${printable(redact(message, io.env))}\n`);
  return error instanceof UsageError ? EXIT.usage : EXIT.failed;
}

/** Whether arguments ask for JSON, also those that are wrong. */
export function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? args.length : end).includes("--json");
}
