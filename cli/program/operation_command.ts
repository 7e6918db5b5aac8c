import type { Command } from "commander";
import { defined } from "../../core/guards.ts";
import { printable } from "../../core/printable.ts";
import { checkpointsOf, selectCheckpoints } from "../../ledger/for_cli.ts";
import { FOLD_VERSION } from "../../ledger/for_sync.ts";
import type { Ledger } from "../../ledger/mod.ts";
import {
  type Items,
  type OpenMode,
  type Operation,
  type OperationContext,
  type OperationParam,
  type OperationValues,
  type OperationView,
  pagesOf,
  paramsOf,
  valuesOf,
} from "../../resources/operations/operation.ts";
import { MOST_ROWS, PAGE, type Page } from "../../resources/queries/page.ts";
import { lower } from "../../resources/views/text.ts";
import { type Config, requireApiKey } from "../../settings/config.ts";
import { CommandError, EXIT, UsageError } from "../../settings/errors.ts";
import { serviceClient } from "../../settings/service.ts";
import { stoppable, untilStopped } from "../../settings/stoppable.ts";
import {
  drainLeft,
  leftSegments,
} from "../../server/ledger_file/left_segments.ts";
import { spoolDirectory } from "../../server/ledger_file/spool_directory.ts";
import { verifyStatesBeside } from "./verify_states_beside.ts";
import type { Cli } from "./cli.ts";
import { confirmed, type Io, jsonLine, line, lines, note } from "./io.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOf,
  limitOption,
  rateOption,
  serviceOptions,
  type SharedFlags,
} from "./options.ts";
import {
  flagValue,
  givenAs,
  type Named,
  operandValue,
  optionsOf,
} from "./operation_options.ts";
import { noteWaiting, type Progress, progress } from "./progress.ts";
import { refusedBy } from "./refused_by.ts";
import {
  upToDate,
  withLedger,
  withReadLedger,
  withStoredLedger,
} from "./with_ledger.ts";
import { servicePort } from "./with_service.ts";

interface OperationFlags extends SharedFlags {
  readonly limit?: number;
  readonly rate?: number;
  readonly yes?: true;
}

/**
 * Adds the command of an operation, or of several that have one name: that one
 * is done which takes all that is given.
 *
 * @param parent The commands that it is one of.
 */
export function addOperation(
  parent: Command,
  cli: Cli,
  first: Operation,
  ...others: readonly Operation[]
): void {
  const all = [first, ...others];
  const command = parent.command(first.command?.split(" ").at(-1) ?? "");
  const { result } = first;
  const summary = all.map(({ summary }) => lower(summary)).join("; or ");
  const more = all.flatMap(({ description = [] }) => description);
  command.summary(lower(first.summary)).description(
    [summary, ...new Set(more)].join(". "),
  );
  const params = [
    ...new Map(
      all.flatMap((one) => taken(one)).map((one) => [givenAs(one), one]),
    ).values(),
  ];
  const operands = params.filter(([, { place }]) => place !== undefined);
  for (const [, { place = "" }] of operands) {
    const meant = all.flatMap((one) => taken(one)).flatMap(([, param]) =>
      param.place === place ? [operandText(param)] : []
    );
    command.argument(place, [...new Set(meant)].join("; or "));
  }
  ledgerOptions(command);
  const asks = all.flatMap(({ asks = [] }) => asks);
  if (asks.length > 0) serviceOptions(command);
  if (asks.includes("lists")) rateOption(command);
  const pages = pagesOf(first);
  if (pages !== null) limitOption(command, pages.rows);
  jsonOption(
    command,
    result.many === undefined ? "one object" : "one object a line",
  );
  for (const [name, param] of params) {
    for (const option of optionsOf(name, param)) command.addOption(option);
  }
  if (all.some(({ confirms }) => confirms !== undefined)) {
    command.option("--yes", "do not ask");
  }
  const codes = all.flatMap(({ result: { exitCodes = [] } }) => exitCodes);
  const examples = all.flatMap(({ command, examples = [""] }) =>
    examples.map((one) => `\n  rampkit ${command} ${one}`.trimEnd())
  );
  command.addHelpText(
    "after",
    codes.map((one) => `\n${one}\n`).join("") +
      `\nExample:${examples.join("")}`,
  ).action(
    cli.run(async (...given: unknown[]) => {
      const flags = given[operands.length] as OperationFlags;
      const value = (name: string, param: OperationParam<unknown>) => {
        const { place } = param;
        const at = operands.findIndex(([, one]) => one.place === place);
        return place === undefined
          ? flagValue(name, param, flags)
          : operandValue(param, given[at]);
      };
      const operation = chosen(all, value);
      const values = valuesOf(
        Object.fromEntries(taken(operation)),
        value,
        (name, param) => givenAs([name, param]),
      );
      return await perform(cli.io, operation, values, flags);
    }),
  );
}

/** What an operand is, with the words that it may be. */
function operandText(
  { description, schema }: OperationParam<unknown>,
): string {
  const words = schema.enum === undefined ? "" : `: ${schema.enum}`;
  return lower(description) + words.replaceAll(",", ", ");
}

/**
 * The operation of a command that is meant: the first that takes all that is
 * given, and lacks nothing if there is such a one.
 *
 * @throws {UsageError} When none takes all that is given.
 */
function chosen(
  all: readonly Operation[],
  value: (name: string, param: OperationParam<unknown>) => unknown,
): Operation {
  const given = new Set(
    all.flatMap((one) => taken(one)).filter((one) => isGiven(one, value)).map(
      givenAs,
    ),
  );
  const taking = all.filter((one) => {
    const known = new Set(taken(one).map(givenAs));
    return given.isSubsetOf(known);
  });
  const whole = taking.find((one) =>
    taken(one).every(([name, param]) =>
      !param.required || isGiven([name, param], value)
    )
  );
  const [operation] = whole === undefined ? taking : [whole];
  if (operation !== undefined) return operation;
  throw new UsageError(`These do not go together: ${[...given].join(", ")}`);
}

/** Whether a parameter was given, right or wrong. */
function isGiven(
  [name, param]: Named,
  value: (name: string, param: OperationParam<unknown>) => unknown,
): boolean {
  try {
    return value(name, param) !== undefined;
  } catch {
    return true;
  }
}

/**
 * Does an operation, and prints what it gives.
 *
 * @returns The exit code.
 */
async function perform(
  io: Io,
  operation: Operation,
  values: OperationValues,
  flags: OperationFlags,
): Promise<number> {
  const named = (name: string) => {
    const param = paramsOf(operation)[name];
    return param === undefined ? name : givenAs([name, param]);
  };
  operation.checks?.(values, { named, nowMs: io.now() });
  const work = async (ledger: Ledger, config: Config) => {
    const { counts = "", scope, stopped } = operation;
    let done = 0;
    let shown: Progress | null = null;
    const end = () => {
      shown?.end();
      shown = null;
    };
    const context: OperationContext = {
      ...{ ledger, named, now: io.now, signal: io.signal, poller: null },
      nowMs: io.now(),
      service: servicePort(
        config,
        (options) =>
          serviceClient(config, ledger.environment, {
            ...defined({ requestsPerSecond: flags.rate }),
            ...options,
          }),
      ),
      onProgress: (at, total) => {
        shown ??= progress(io, counts, !flags.json, total ?? null);
        shown.at(done = at);
      },
      note: (text) => {
        end();
        note(io, text);
      },
      files: {
        left: () => leftSegments(spoolDirectory(config)),
        drain: () => drainLeft(spoolDirectory(config), ledger),
        compareStates: () => {
          end();
          return verifyStatesBeside(io, ledger, !flags.json);
        },
      },
    };
    const prepare = async () => {
      // It is evidence: looking at it must not change it.
      if (operation.opens === "unchanged") return;
      if (operation.folds) await upToDate(ledger, io);
      if (scope !== "read") return;
      await noteWaiting(ledger, io, flags);
      await noteOlderFold(ledger, io);
    };
    const view: OperationView = {
      columns: io.columns,
      nowMs: context.nowMs,
      flags,
      remote: ledger.driver.location === "remote",
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
      return await operation.run(context, values)
        .catch(refusedBy(operation));
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
  if (operation.asks !== undefined && operation.asks !== "claims") {
    return await withLedger(io, flags, work, requireApiKey);
  }
  return await OPEN[operation.opens ?? "read"](io, flags, work);
}

type OpenLedger = (
  io: Io,
  flags: SharedFlags,
  work: (ledger: Ledger, config: Config) => Promise<number>,
) => Promise<number>;

const OPEN: Readonly<Record<OpenMode, OpenLedger>> = {
  read: withReadLedger,
  begins: withLedger,
  stored: withStoredLedger,
  unchanged: (io, flags, work) => withStoredLedger(io, flags, work, true),
};

/**
 * Asks a person, where the operation does.
 *
 * @returns Whether it is to be done; if not, what there is to say was printed.
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

/**
 * The rows of an operation's pages.
 *
 * @param wanted At most this many are read at once; 1 is as many as may be.
 */
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
  if (json) {
    const { many } = operation.result;
    const { items } = result as Items<unknown>;
    for (const one of many === undefined ? [result] : items) jsonLine(io, one);
    return;
  }
  const text = operation.idle?.(result) ??
    operation.says?.(result, values, view) ?? JSON.stringify(result);
  if (typeof text === "string") line(io, printable(text));
  else lines(io, text);
  for (const one of operation.notes?.(result) ?? []) note(io, one);
}

/** The parameters that a command takes; how many rows, it says otherwise. */
function taken(operation: Operation): readonly Named[] {
  const isPaged = pagesOf(operation) !== null;
  return Object.entries(paramsOf(operation)).filter(([name, { only }]) =>
    only !== "request" && !(isPaged && Object.hasOwn(PAGE, name))
  );
}

/**
 * Says on standard error when an older version has folded the ledger: it did
 * not write down all that orders are found by.
 */
async function noteOlderFold(ledger: Ledger, io: Io): Promise<void> {
  const [rows] = await ledger.driver.batch([selectCheckpoints], "read");
  const { live } = checkpointsOf(rows);
  if (live === null || live.foldVersion >= FOLD_VERSION) return;
  note(
    io,
    "An older version has folded this ledger, so not everything can be found " +
      "yet; fold it again with: rampkit ledger refold",
  );
}
