import { type Io, jsonLine, line, lines } from "./io.ts";
import { limitOf } from "./options.ts";
import { untilStopped } from "../../settings/stoppable.ts";

/** How the rows of a list are shown. */
export interface ListView<T> {
  /** The text for an empty list. */
  readonly none: string;
  /** One row as `--json` prints it. */
  readonly json: (row: T) => unknown;
  /** All rows as a table for people. */
  readonly table: (rows: readonly T[], columns: number | null) => string;
}

/** Prints a list, newest first, up to its limit: a table or JSON lines. */
export async function printList<T>(
  io: Io,
  flags: { readonly limit?: number; readonly json?: boolean },
  rows: AsyncIterable<T>,
  view: ListView<T>,
): Promise<void> {
  const limit = limitOf(flags);
  const shown: T[] = [];
  let count = 0;
  let more = false;
  for await (const row of untilStopped(rows, io.signal)) {
    if (limit > 0 && count === limit) {
      more = true;
      break;
    }
    count++;
    if (flags.json) jsonLine(io, view.json(row));
    else shown.push(row);
  }
  if (flags.json) return;
  if (count === 0) return line(io, view.none);
  lines(io, [view.table(shown, io.columns)]);
  if (!more) return;
  line(io);
  line(io, `The newest ${limit}; --limit 0 shows all`);
}
