import { CommanderError } from "commander";
import { messageOf } from "../../core/guards.ts";
import { printable, printableJson } from "../../core/text.ts";
import { CommandError, EXIT, UsageError } from "../../core/settings/errors.ts";
import { type Io, note } from "./io.ts";
import { redact } from "../../core/settings/settings.ts";
import { isStop } from "../../core/settings/values.ts";
import { OnrampError, ValidationError } from "../../client/errors.ts";
import { LedgerError } from "../../ledger/mod.ts";
import { PollError } from "../../sync/mod.ts";
import { SpoolError } from "../../webhooks/mod.ts";

/** Says what went wrong, free of secrets, and gives the exit code for it. */
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

/** Why a command failed: the last line on standard error under `--json`. */
export interface ErrorJson {
  /** The error. */
  readonly error: {
    /**
     * What went wrong, as a word to branch on: `usage`, `stopped`, `not_found`,
     * `in_use`, `failed`, a code of the ledger (`busy`), of the spool (`disk`)
     * or of the client (`rate_limited`), or `unexpected`.
     */
    readonly code: string;
    /** The same for people, free of secrets. */
    readonly message: string;
    /** Exit code of the command. */
    readonly exitCode: number;
    /** Each rule that an input breaks, by the service's name of the field. */
    readonly faults: readonly {
      readonly field: string;
      readonly rule: string;
    }[];
    /** What the service answered; null where it was not asked. */
    readonly service: {
      /** HTTP status; null when there was no answer. */
      readonly status: number | null;
      /** Identifier that the service gave the request. */
      readonly requestId: string | null;
      /** Whether the same request may succeed later. */
      readonly retryable: boolean;
    } | null;
  };
}

/** An error as it is printed under `--json`, free of secrets. */
export function errorJson(error: unknown, io: Io): ErrorJson {
  const { code, exitCode, message } = told(error, io);
  const asked = causeOf(error);
  const hide = (text: string) => redact(text, io.env);
  return {
    error: {
      code,
      message: hide(message),
      exitCode,
      faults: asked instanceof ValidationError
        ? asked.faults.map(({ field, rule }) => ({
          field: hide(field),
          rule: hide(rule),
        }))
        : [],
      service: asked instanceof OnrampError && !isOurs(asked)
        ? {
          status: asked.status,
          requestId: asked.requestId === null ? null : hide(asked.requestId),
          retryable: asked.retryable,
        }
        : null,
    },
  };
}

/** An input that was found wrong before anything was sent. */
function isOurs(error: OnrampError): boolean {
  return error.code === "invalid_input";
}

/** The client's error, also where wrong usage was made of it. */
function causeOf(error: unknown): unknown {
  return error instanceof UsageError ? error.cause : error;
}

function told(
  error: unknown,
  io: Io,
): {
  readonly code: string;
  readonly exitCode: number;
  readonly message: string;
} {
  if (error instanceof CommanderError) {
    return {
      code: "usage",
      exitCode: EXIT.usage,
      message: usageMessage(error),
    };
  }
  const message = messageOf(error);
  if (error instanceof UsageError) {
    return { code: "usage", exitCode: EXIT.usage, message };
  }
  if (isStop(error, io.signal)) {
    return { code: "stopped", exitCode: EXIT.failed, message: STOPPED };
  }
  return { code: codeOf(error), exitCode: EXIT.failed, message };
}

/** What is said where a command has nothing of its own to say. */
const STOPPED =
  "Stopped before the end; what is stored stays, nothing else was changed";

function codeOf(error: unknown): string {
  return error instanceof CommandError || error instanceof OnrampError ||
      error instanceof LedgerError || error instanceof PollError ||
      error instanceof SpoolError
    ? error.code
    : "unexpected";
}

/** The parser's sentence, in our form: a capital first, on one line. */
function usageMessage({ code, message }: CommanderError): string {
  // Its message is then "(outputHelp)".
  if (code === "commander.help") {
    return "Name a command: --help lists those that there are";
  }
  const [first = "", ...others] = message.replace(/^error: /, "")
    .replaceAll(/\s*\n\s*/g, " ");
  return first.toUpperCase() + others.join("");
}
