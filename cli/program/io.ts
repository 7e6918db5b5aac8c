import { open, stat } from "node:fs/promises";
import process from "node:process";
import { Readable } from "node:stream";
import { errorCode, messageOf } from "../../core/guards.ts";
import { CommandError } from "../../core/settings/errors.ts";
import { printable, printableJson, printableLines } from "../../core/text.ts";
import { wrap } from "../../resources/views/text.ts";

/** A command's work: gives an exit code, or nothing when all is fine. */
type Action<Args extends unknown[]> = (
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

/** Codes that a terminal takes as the way to write what follows. */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  magenta: [35, 39],
} as const;

/** A way to write a text on a terminal. */
export type Style = keyof typeof STYLES;

/** A printable text in a style, for a terminal that wants colours. */
export function paint(style: Style, text: string): string {
  const [on, off] = STYLES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

/**
 * Opens a file to read, or standard input for `-`.
 *
 * @throws {CommandError} When it cannot be read, saying why.
 */
export async function openInput(
  file: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const stream = file === "-" ? process.stdin : await openFile(file);
  return webStream(stream).pipeThrough(new TransformStream(), { signal });
}

function webStream(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>;
}

async function openFile(file: string): Promise<Readable> {
  let why: string;
  try {
    const isDirectory = (await stat(file)).isDirectory();
    if (!isDirectory) return (await open(file)).createReadStream();
    why = "it is a folder";
  } catch (error) {
    why = errorCode(error) === "ENOENT"
      ? "there is no such file"
      : messageOf(error);
  }
  throw new CommandError(`Cannot read ${file}: ${why}`);
}

/**
 * Everything that a command uses from outside, so that tests can replace it.
 */
export interface Io {
  /** Writes to standard output, as is. */
  readonly out: (text: string) => void;
  /** Writes to standard error, as is. */
  readonly err: (text: string) => void;
  /**
   * Writes to standard output without making the caller wait for a reader that
   * pauses, and lets colours pass; resolves once it is written.
   *
   * @default Writes as `out` does.
   */
  readonly outLater?: (text: string) => Promise<void>;
  /**
   * Asks the person at the terminal; null if there is no answer.
   *
   * @default There is no person.
   */
  readonly ask?: (question: string) => Promise<string | null>;
  /** Reads an environment variable. */
  readonly env: (name: string) => string | undefined;
  /** Width of the terminal in columns, or null where there is none. */
  readonly columns: number | null;
  /** Whether standard output is a terminal that wants colours. */
  readonly colour: boolean;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * Whether a database file works in a thread of its own, so that Ctrl-C is
   * heard while it works. To start the thread takes a tenth of a second.
   *
   * @default true
   */
  readonly worker?: boolean;
}

/**
 * Prints a line for people, broken at spaces where the terminal is narrower.
 */
export function line(io: Io, text?: string, hang?: number): void {
  io.out(`${wrap(printable(text ?? ""), io.columns, hang)}\n`);
}

/** Prints lines that were fitted to the terminal before. */
export function lines(io: Io, texts: readonly string[]): void {
  for (const text of texts) io.out(`${text}\n`);
}

/** Prints a line for people on standard error. */
export function note(io: Io, text: string): void {
  io.err(`${wrap(printable(text), io.columns)}\n`);
}

/** Prints one JSON value on a line of its own. */
export function jsonLine<Json = unknown>(io: Io, value: Json): void {
  io.out(`${printableJson(value)}\n`);
}

/**
 * The same terminal, to which nothing is written that it would obey: the last
 * guard, for texts of libraries and for whatever was not made printable before.
 */
export function guardedIo(io: Io): Io {
  const out = (text: string) => io.out(printableLines(text));
  return {
    ...io,
    out,
    err: (text) => io.err(printableLines(text)),
    outLater: (text) => {
      const guarded = io.colour
        ? text.split(COLOURS).map((part, at) =>
          at % 2 === 1 ? part : printableLines(part)
        ).join("")
        : printableLines(text);
      if (io.outLater !== undefined) return io.outLater(guarded);
      io.out(guarded);
      return Promise.resolve();
    },
  };
}

/** How a text is written; moves no cursor. */
// deno-lint-ignore no-control-regex
const COLOURS = /(\u001b\[\d{1,2}m)/;

/** Asks a question that only `yes` answers. */
export async function confirmed(io: Io, question: string): Promise<boolean> {
  const answer = await io.ask?.(question);
  return answer?.trim().toLowerCase() === "yes";
}
