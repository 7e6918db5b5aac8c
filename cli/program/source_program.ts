import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { CommandError, EXIT, UsageError } from "../../core/settings/errors.ts";
import type { Io } from "./io.ts";

/** What every process with a ledger may do. */
export const LEDGER_PERMISSIONS: readonly string[] = [
  "--allow-env",
  "--allow-sys",
  "--allow-read",
  "--allow-write",
];

/** A program of the source tree that is not part of the published package. */
export interface SourceProgram {
  /** What it is, for people. */
  readonly name: string;
  /** The command that runs it. */
  readonly command: string;
  /** Its file. */
  readonly file: URL;
  /** What it may do beyond {@linkcode LEDGER_PERMISSIONS}. @default {nothing} */
  readonly permissions?: readonly string[];
  /** What to tell when it was stopped; null where it runs until then. */
  readonly stopped: string | null;
}

/**
 * Runs a program of the source tree in a process of its own, with permissions
 * of its own; it writes to the same terminal.
 *
 * @throws {UsageError} When this is not a checkout of the source.
 */
export async function runSourceProgram(
  io: Io,
  program: SourceProgram,
  args: readonly string[],
): Promise<number> {
  await requireSource(program);
  io.signal.throwIfAborted();
  const child = spawn(
    "deno",
    [
      "run",
      ...LEDGER_PERMISSIONS,
      ...program.permissions ?? [],
      program.file.href,
      ...args,
    ],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  const ended = once(child, "exit");
  // Ctrl-C reaches both of us; a signal sent to this process alone does not.
  const stop = () => void child.kill("SIGTERM");
  io.signal.addEventListener("abort", stop);
  const [code] = await ended;
  io.signal.removeEventListener("abort", stop);
  if (!io.signal.aborted) return code ?? EXIT.failed;
  if (program.stopped === null) return EXIT.fine;
  throw new CommandError(`Stopped: ${program.stopped}`, "stopped");
}

/**
 * Makes sure that the source is there.
 *
 * @throws {UsageError} When it is not, saying how to get it.
 */
export async function requireSource(
  { name, command, file }: Pick<SourceProgram, "name" | "command" | "file">,
): Promise<void> {
  const found = file.protocol === "file:" &&
    await stat(file).then(() => true, () => false);
  if (found) return;
  throw new UsageError(
    `Cannot run ${command} here: ${name} is in the source tree and not in ` +
      "the published package; clone the repository that the package's page " +
      `names, and run there: npx -y deno@2.9.6 task ${command}`,
  );
}
