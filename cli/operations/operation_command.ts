import type { Command } from "commander";
import {
  givenAs,
  type Named,
  type Operation,
  type OperationParam,
  pagesOf,
  valuesOf,
} from "../../resources/operations/operation.ts";
import { lower } from "../../resources/views/text.ts";
import { UsageError } from "../../core/settings/errors.ts";
import type { Cli } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOption,
  rateOption,
  serviceOptions,
} from "../program/options.ts";
import {
  flagValue,
  operandValue,
  type OperationFlags,
  optionsOf,
  perform,
  taken,
} from "./perform.ts";
import { OPERATIONS } from "../../resources/operations/mod.ts";

/**
 * Adds the command of an operation, or of several that have one name: that one
 * is done which takes all that is given.
 */
function addOperation(
  parent: Command,
  cli: Cli,
  first: Operation,
  ...others: readonly Operation[]
): void {
  const all = [first, ...others];
  const command = parent.command(first.command?.split(" ").at(-1) ?? "");
  const { result } = first;
  const codes = new Set(
    all.flatMap(({ result: { exitCodes = [] } }) => exitCodes),
  );
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
  if (asks.some((one) => one !== "chain")) serviceOptions(command);
  if (asks.includes("lists")) rateOption(command);
  const pages = pagesOf(first);
  if (pages !== null) limitOption(command, pages.rows);
  if (result.text === undefined) {
    jsonOption(
      command,
      result.many === undefined ? "one object" : "one object a line",
    );
  }
  for (const [name, param] of params) {
    for (const option of optionsOf(name, param)) command.addOption(option);
  }
  if (all.some(({ confirms }) => confirms !== undefined)) {
    command.option("--yes", "do not ask");
  }
  const examples = all.flatMap(({ command, examples = [""] }) =>
    examples.map((one) => `\n  rampkit ${command} ${one}`.trimEnd())
  );
  command.addHelpText(
    "after",
    [...codes].map((one) => `\n${one}\n`).join("") +
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

/** Commands that have others below them: in few words, and in more. */
const GROUPS: Readonly<Record<string, readonly [string, string?]>> = {
  orders: [
    "list, show, explain and export orders",
    "what the ledger knows of orders",
  ],
  users: ["list, show and erase users", "what the ledger knows of users"],
  month: [
    "close the books of a month, and show closed months",
    "the books of a month: sales confirmed by the service, closed once and " +
    "never changed",
  ],
  session: ["create widget sessions"],
  ledger: ["verify, back up, export, move and refold the ledger"],
  deliveries: [
    "list and show webhook deliveries",
    "what the endpoint received, with the exact bytes of each body",
  ],
  subscriptions: [
    "show what your handlers and targets received",
    "what your handlers and targets received, and which deliveries failed",
  ],
  webhook: ["send, replay and read webhook bodies"],
};

/**
 * Adds the command of a name with what operations do under it, or the commands
 * below it.
 */
export function addOperations(
  program: Command,
  cli: Cli,
  name: string,
): Command {
  const [summary, description = summary] = GROUPS[name] ?? [];
  const parent = summary === undefined
    ? program
    : program.command(name).summary(summary).description(description ?? "");
  // Without Map.groupBy: Node 20 gets as far as saying that it is too old.
  for (const command of new Set(OPERATIONS.map(({ command }) => command))) {
    const isHere = parent === program
      ? command === name
      : command?.startsWith(`${name} `);
    const [first, ...others] = OPERATIONS.filter((one) =>
      one.command === command
    );
    if (isHere && first !== undefined) {
      addOperation(parent, cli, first, ...others);
    }
  }
  return parent;
}
