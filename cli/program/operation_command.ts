import type { Command } from "commander";
import { printable } from "../../core/printable.ts";
import { checkpointsOf, selectCheckpoints } from "../../ledger/for_cli.ts";
import { FOLD_VERSION } from "../../ledger/for_sync.ts";
import type { Ledger } from "../../ledger/mod.ts";
import {
  type Items,
  type Operation,
  type OperationContext,
  type OperationParam,
  type OperationValues,
  pagesOf,
  paramsOf,
  valuesOf,
} from "../../resources/operations/operation.ts";
import { MOST_ROWS, PAGE, type Page } from "../../resources/queries/page.ts";
import { lower } from "../../resources/views/text.ts";
import type { Config } from "../../settings/config.ts";
import { untilStopped } from "../../settings/stoppable.ts";
import type { Cli } from "./cli.ts";
import { refusedExpectation } from "./expected_terms.ts";
import { type Io, jsonLine, line, lines, note } from "./io.ts";
import {
  flagValue,
  givenAs,
  type Named,
  optionsOf,
} from "./operation_options.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOf,
  limitOption,
  type SharedFlags,
} from "./options.ts";
import { noteWaiting } from "./progress.ts";
import { upToDate, withLedger, withReadLedger } from "./with_ledger.ts";

interface OperationFlags extends SharedFlags {
  readonly limit?: number;
}

/**
 * Adds the command of an operation, or of several that have one name: one of
 * them is done where a parameter is given that the first does not have.
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
  for (const [, { place = "", description, schema }] of operands) {
    const words = schema.enum === undefined ? "" : `: ${schema.enum}`;
    command.argument(place, lower(description) + words.replaceAll(",", ", "));
  }
  ledgerOptions(command);
  const pages = pagesOf(first);
  if (pages !== null) limitOption(command, pages.rows);
  jsonOption(
    command,
    result.many === undefined ? "one object" : "one object a line",
  );
  for (const [name, param] of params) {
    for (const option of optionsOf(name, param)) command.addOption(option);
  }
  const examples = all.flatMap(({ command, examples = [""] }) =>
    examples.map((one) => `\n  rampkit ${command} ${one}`.trimEnd())
  );
  command.addHelpText("after", `\nExample:${examples.join("")}`).action(
    cli.run(async (...given: unknown[]) => {
      const flags = given[operands.length] as OperationFlags;
      const value = (name: string, param: OperationParam<unknown>) => {
        const { place } = param;
        const at = operands.findIndex(([, one]) => one.place === place);
        const text = given[at];
        if (place === undefined) return flagValue(name, param, flags);
        return typeof text === "string" ? param.read(place, text) : undefined;
      };
      const known = new Set(taken(first).map(givenAs));
      const operation = others.find((one) =>
        taken(one).some((param) =>
          !known.has(givenAs(param)) && value(...param) !== undefined
        )
      ) ?? first;
      const values = valuesOf(
        Object.fromEntries(taken(operation)),
        value,
        (name, param) =>
          givenAs([name, param]),
      );
      await perform(cli.io, operation, values, flags);
    }),
  );
}

/** Does an operation, and prints what it gives. */
export async function perform(
  io: Io,
  operation: Operation,
  values: OperationValues,
  flags: OperationFlags,
): Promise<void> {
  const work = async (ledger: Ledger, config: Config) => {
    if (operation.folds) await upToDate(ledger, io);
    if (operation.scope === "read") {
      await noteWaiting(ledger, io, flags);
      await noteOlderFold(ledger, io);
    }
    const named = (name: string) => {
      const param = paramsOf(operation)[name];
      return param === undefined ? name : givenAs([name, param]);
    };
    const hasKey = config.apiKey !== null;
    const context = { ledger, nowMs: io.now(), hasKey, named };
    io.signal.throwIfAborted();
    if (pagesOf(operation) === null) {
      const result = await operation.run(context, values)
        .catch(refusedExpectation());
      await operation.refuses?.(context, result, values);
      if (!flags.json) return print(io, operation, result, values, flags);
      const { items } = result as Items<unknown>;
      const many = operation.result.many === undefined ? [result] : items;
      for (const one of many) jsonLine(io, one);
      return;
    }
    await performPaged(io, operation, { context, values, flags });
  };
  const open = operation.begins ? withLedger : withReadLedger;
  await open(io, flags, work);
}

/** Prints a list, up to its limit. */
async function performPaged(
  io: Io,
  operation: Operation,
  { context, values, flags }: {
    readonly context: OperationContext;
    readonly values: OperationValues;
    readonly flags: OperationFlags;
  },
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
  print(io, operation, { items }, values, flags);
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
  { context, values }: {
    readonly context: OperationContext;
    readonly values: OperationValues;
  },
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

function print(
  io: Io,
  operation: Operation,
  result: object,
  values: OperationValues,
  flags: OperationFlags,
): void {
  const { columns } = io;
  const view = { columns, nowMs: io.now(), flags };
  const text = operation.says?.(result, values, view) ??
    JSON.stringify(result);
  if (typeof text === "string") line(io, printable(text));
  else lines(io, text);
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
