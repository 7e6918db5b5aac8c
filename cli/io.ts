/** Everything a command may touch outside itself, so that tests can hold it. */
export interface Io {
  /** Writes to standard output, as is. */
  readonly out: (text: string) => void;
  /** Writes to standard error, as is. */
  readonly err: (text: string) => void;
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
}

/** Prints one line. */
export function line(io: Io, text = ""): void {
  io.out(`${text}\n`);
}

/** Prints one JSON value on a line of its own. */
export function jsonLine(io: Io, value: unknown): void {
  io.out(`${JSON.stringify(value)}\n`);
}
