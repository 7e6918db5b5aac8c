import { defined } from "../../core/guards.ts";
import { printable } from "../../core/printable.ts";
import { readFolded } from "../../ledger/for_resources.ts";
import { FOLD_VERSION } from "../../ledger/for_sync.ts";
import type { Ledger } from "../../ledger/mod.ts";
import {
  givenAs,
  type Items,
  type Operation,
  type OperationContext,
  type OperationValues,
  type OperationView,
  pagesOf,
  type WrittenText,
} from "../../resources/operations/operation.ts";
import { MOST_ROWS, type Page } from "../../resources/queries/page.ts";
import { type Config, requireApiKey } from "../../core/settings/config.ts";
import { CommandError, EXIT, UsageError } from "../../core/settings/errors.ts";
import { stoppable, untilStopped } from "../../core/settings/stoppable.ts";
import {
  confirmed,
  type Io,
  jsonLine,
  line,
  lines,
  note,
} from "../program/io.ts";
import { limitOf } from "../program/options.ts";
import { openOutput } from "../program/output.ts";
import { noteWaiting, type Progress, progress } from "../program/progress.ts";
import { upToDate, withLedger } from "../program/with_ledger.ts";
import {
  namer,
  openInputs,
  operationContext,
  type OperationFlags,
} from "./operation_context.ts";
import { taken } from "./operation_options.ts";
import { refusedBy } from "./refused_by.ts";

/** Does an operation, and prints what it gives. */
export async function perform(
  io: Io,
  operation: Operation,
  values: OperationValues,
  flags: OperationFlags,
): Promise<number> {
  const isText = operation.result.text !== undefined;
  if (flags.json && isText) {
    const names = ["--json", ...flagsOf(operation, values)];
    throw new UsageError(`These do not go together: ${names.join(", ")}`);
  }
  operation.checks?.(values, { named: namer(operation), nowMs: io.now() });
  const inputs = await openInputs(io, operation, values);
  const work = async (ledger: Ledger, config: Config) => {
    const { counts, opens = "read", scope, stopped } = operation;
    let done = 0;
    let shown: Progress | null = null;
    const end = () => {
      shown?.end();
      shown = null;
    };
    const context = await operationContext(operation, {
      ...{ io, ledger, config, flags, inputs },
      onProgress: (at, total) => {
        done = at;
        if (counts === undefined) return;
        shown ??= progress(io, counts, !flags.json, total ?? null);
        shown.at(done);
      },
      endProgress: end,
    });
    const prepare = async () => {
      // It is evidence: looking at it must not change it.
      if (opens === "unchanged" || opens === "closed") return;
      if (operation.folds) await upToDate(ledger, io);
      if (scope !== "read") return;
      await noteWaiting(ledger, io, flags);
      await noteOlderFold(ledger, io);
    };
    const view: OperationView = {
      columns: io.columns,
      nowMs: context.nowMs,
      flags,
      remote: opens !== "closed" && ledger.driver.location === "remote",
    };
    if (stopped === undefined) io.signal.throwIfAborted();
    if (pagesOf(operation) !== null) {
      await prepare();
      await performPaged(io, operation, { context, values, view, flags });
      return EXIT.fine;
    }
    const run = async () => {
      await prepare();
      if (!await isToBeDone(io, operation, { context, values, view, flags })) {
        return null;
      }
      const result = await operation.run(context, values)
        .catch(refusedBy(operation));
      if (isText) await writeText(io, result as WrittenText, values);
      return result;
    };
    let result: object | null;
    try {
      result = stopped === undefined ? await run() : await stoppable(
        io.signal,
        run,
        () => stopped(done, values, context),
      );
    } finally {
      end();
    }
    if (result === null) return EXIT.fine;
    await operation.refuses?.(context, result, values);
    print(io, operation, result, { values, view, flags });
    return EXIT[operation.exit?.(result, values) ?? "fine"];
  };
  const { asks, holds, opens = "read" } = operation;
  const asksService = asks === "lists" || asks === "sessions";
  return await withLedger(io, flags, {
    // What is read has to go somewhere.
    opens: asksService ? "begins" : opens,
    ...defined({
      holds: holds?.(values),
      needs: asksService ? requireApiKey : undefined,
    }),
  }, work);
}

/** The flags that were given, as a person gave them. */
function flagsOf(operation: Operation, values: OperationValues): string[] {
  return taken(operation).filter(([name, { place }]) =>
    place === undefined && Object.hasOwn(values, name)
  ).map(givenAs);
}

/** Writes a text to the file that is named, or prints it. */
async function writeText(
  io: Io,
  { parts, cut }: WrittenText,
  values: OperationValues,
): Promise<void> {
  const { output: file } = values as { readonly output?: string };
  using output = openOutput(io, file, cut);
  for await (const part of untilStopped(parts, io.signal)) output.write(part);
  output.finish();
}

/**
 * Asks a person, where the operation does.
 *
 * @throws {CommandError} When nobody said yes.
 */
async function isToBeDone(
  io: Io,
  operation: Operation,
  { context, values, view, flags }: Performance,
): Promise<boolean> {
  const asked = await operation.confirms?.(context, values, view) ?? null;
  if (asked === null) return true;
  const { shows, question, instead, refusal, obstacle = null } = asked;
  if (!flags.json) lines(io, shows);
  if (question !== null) {
    if (obstacle !== null && (flags.yes || !flags.json)) {
      throw new CommandError(obstacle);
    }
    if (flags.yes) return true;
    if (!flags.json && await confirmed(io, question)) return true;
  }
  if (flags.json && instead !== null) {
    jsonLine(io, instead);
    return false;
  }
  if (question === null) return false;
  throw new CommandError(refusal);
}

/** What is done, and with what. */
interface Performance {
  readonly context: OperationContext;
  readonly values: OperationValues;
  readonly view: OperationView;
  readonly flags: OperationFlags;
}

/** Prints a list, up to its limit. */
async function performPaged(
  io: Io,
  operation: Operation,
  { context, values, view, flags }: Performance,
): Promise<void> {
  const limit = limitOf(flags);
  const items: unknown[] = [];
  let count = 0;
  let more = false;
  // One more than is shown says whether there are more.
  const rows = rowsOf(operation, { context, values }, limit + 1);
  for await (const row of untilStopped(rows, io.signal)) {
    if (limit > 0 && count === limit) {
      more = true;
      break;
    }
    count++;
    if (flags.json) jsonLine(io, row);
    else items.push(row);
  }
  if (flags.json) return;
  print(io, operation, { items }, { values, view, flags });
  const below = [
    ...(more
      ? [`The ${pagesOf(operation)?.first} ${limit}; --limit 0 shows all`]
      : []),
    ...(items.length > 0 ? await operation.below?.(context, values) ?? [] : []),
  ];
  if (below.length > 0) lines(io, ["", ...below]);
}

/** The rows of an operation's pages. */
async function* rowsOf(
  operation: Operation,
  { context, values }: Pick<Performance, "context" | "values">,
  wanted: number,
): AsyncGenerator<unknown> {
  const limit = wanted === 1 ? MOST_ROWS : Math.min(wanted, MOST_ROWS);
  let place: { readonly cursor?: string } = {};
  for (;;) {
    const { items, next } = await operation.run(
      context,
      { ...values, ...place, limit },
    ) as Page<unknown>;
    yield* items;
    if (next === null) return;
    place = { cursor: next };
  }
}

/** Prints what an operation gave, and on standard error what is beside it. */
function print(
  io: Io,
  operation: Operation,
  result: object,
  { values, view, flags: { json } }: {
    readonly values: OperationValues;
    readonly view: OperationView;
    readonly flags: OperationFlags;
  },
): void {
  const { many, schema } = operation.result;
  if (schema === null) {
    // A text was written already.
  } else if (json) {
    const { items } = result as Items<unknown>;
    for (const one of many === undefined ? [result] : items) jsonLine(io, one);
    return;
  } else {
    const text = operation.idle?.(result) ??
      operation.says?.(result, values, view) ?? JSON.stringify(result);
    if (typeof text === "string") line(io, printable(text));
    else lines(io, text);
  }
  for (const one of operation.notes?.(result, values) ?? []) note(io, one);
}

/**
 * Says on standard error when an older version has folded the ledger: it did
 * not write down all that orders are found by.
 */
async function noteOlderFold(ledger: Ledger, io: Io): Promise<void> {
  const { foldVersion } = await readFolded(ledger.driver);
  if (foldVersion >= FOLD_VERSION) return;
  note(
    io,
    "An older version has folded this ledger, so not everything can be found " +
      "yet; fold it again with: rampkit ledger refold",
  );
}
