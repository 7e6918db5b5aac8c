import { Option } from "commander";
import {
  givenAs,
  type Items,
  type LedgerFiles,
  type Named,
  type Operation,
  type OperationContext,
  type OperationParam,
  type OperationValues,
  type OperationView,
  pagesOf,
  paramsOf,
  type WrittenText,
} from "../../resources/operations/operation.ts";
import { MOST_ROWS, PAGE, type Page } from "../../resources/queries/orders.ts";
import { lower } from "../../resources/views/text.ts";
import { CommandError, EXIT, UsageError } from "../../core/settings/errors.ts";
import { defined } from "../../core/guards.ts";
import { ExpectationError, type Ledger } from "../../ledger/mod.ts";
import { openWitness } from "../../server/compose/compose_witness.ts";
import {
  drainLeft,
  leftSpoolFiles,
} from "../../server/ledger_file/left_spool_files.ts";
import { spoolDirectory } from "../../server/ledger_file/spool_directory.ts";
import { type Config, requireApiKey } from "../../core/settings/config.ts";
import {
  serviceClient,
  serviceEnvironment,
} from "../../server/compose/service_client.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { lookAtOrder } from "../../witness/look_at_order.ts";
import { createWatcher } from "../../witness/watcher.ts";
import { backUp, restore } from "../ledger_file/backup.ts";
import {
  confirmed,
  type Io,
  jsonLine,
  line,
  lines,
  note,
  openInput,
} from "../program/io.ts";
import { limitOf, servicePort, type SharedFlags } from "../program/options.ts";
import { ValidationError } from "../../client/errors.ts";
import { printable } from "../../core/text.ts";
import { readFolded } from "../../ledger/for_resources.ts";
import { FOLD_VERSION } from "../../ledger/for_sync.ts";
import { stoppable, untilStopped } from "../../core/settings/values.ts";
import {
  noteWaiting,
  openOutput,
  type Progress,
  progress,
} from "../program/output.ts";
import { upToDate, withLedger } from "../program/with_ledger.ts";

/** The parameters that a command takes; how many rows, it says otherwise. */
export function taken(operation: Operation): readonly Named[] {
  const isPaged = pagesOf(operation) !== null;
  return Object.entries(paramsOf(operation)).filter(([name, { only }]) =>
    only !== "request" && !(isPaged && Object.hasOwn(PAGE, name))
  );
}

/** The flags of a parameter; none where it is an operand. */
export function optionsOf(
  name: string,
  param: OperationParam<unknown>,
): readonly Option[] {
  const { place, words, operand = "<text>", schema, description } = param;
  if (place !== undefined) return [];
  if (words !== undefined) {
    return Object.entries(words).map(([word, does]) =>
      new Option(`--${word}`, does)
    );
  }
  const flag = givenAs([name, param]);
  if (schema.type === "boolean") return [new Option(flag, lower(description))];
  const option = new Option(`${flag} ${operand}`, lower(description));
  const choices = Array.isArray(schema.enum) ? schema.enum : [];
  // A shell completes them; more would fill the help.
  if (choices.length > 0 && choices.length <= 4) option.choices(choices);
  const { read, readFlag = read, many } = param;
  return [
    option.argParser((text: string, before: unknown): unknown => {
      const value = readFlag(flag, text);
      return many && Array.isArray(before) && Array.isArray(value)
        ? [...before, ...value]
        : value;
    }),
  ];
}

/**
 * What the operand of a parameter says; undefined where it was left out.
 *
 * @throws {UsageError} When it is wrong, or more than one was given.
 */
export function operandValue(
  { place = "", many, read }: OperationParam<unknown>,
  given: unknown,
): unknown {
  const texts = Array.isArray(given) ? given : [given];
  const values = texts.flatMap((text) =>
    typeof text === "string" ? [read(place, text)] : []
  );
  if (many) return values.length === 0 ? undefined : values.flat();
  if (values.length > 1) throw new UsageError(`Give one ${place}, not several`);
  return values[0];
}

/** What the flags of a parameter say; undefined where none was given. */
export function flagValue(
  name: string,
  param: OperationParam<unknown>,
  flags: object,
): unknown {
  const given = optionsOf(name, param).map((option) => {
    const value: unknown = Reflect.get(flags, option.attributeName());
    return value === undefined ? [] : [[option.name(), value] as const];
  }).flat();
  if (given.length > 1) {
    throw new UsageError(`Say either ${givenAs([name, param])}`);
  }
  const [[word, value] = []] = given;
  return param.words === undefined || word === undefined
    ? value
    : param.read(givenAs([name, param]), word);
}

/** Flags of the commands of operations, beside those of their parameters. */
export interface OperationFlags extends SharedFlags {
  readonly limit?: number;
  readonly rate?: number;
  readonly yes?: true;
}

/** Files that are read, by how they were named. */
type Inputs = ReadonlyMap<string, AsyncIterable<Uint8Array>>;

/** What a command gives the operation that it does. */
interface ContextSource {
  readonly io: Io;
  /** The ledger, as the operation opens it. */
  readonly ledger: Ledger;
  readonly config: Config;
  readonly flags: OperationFlags;
  /** The files that are read. */
  readonly inputs: Inputs;
  /** Shows how much is done. */
  readonly onProgress: OperationContext["onProgress"];
  /** Clears what is shown of it. */
  readonly endProgress: () => void;
}

/**
 * What an operation works with in a command.
 *
 * @throws {UsageError} When what it asks is not configured.
 */
async function operationContext(
  operation: Operation,
  source: ContextSource,
): Promise<OperationContext> {
  const { io, ledger, config, onProgress, endProgress } = source;
  const { asks } = operation;
  return {
    ...{ ledger, now: io.now, signal: io.signal, poller: null, onProgress },
    nowMs: io.now(),
    named: namer(operation),
    // Whether it could be asked is part of some advice.
    service: asks === "chain" ? null : askingPort(operation, source),
    ...asks === "chain" ? await chainPort(io, ledger, config) : {},
    note: (text) => {
      endProgress();
      note(io, text);
    },
    files: filesPort(source),
  };
}

/** How a person names the parameters of an operation. */
function namer(operation: Operation): (name: string) => string {
  return (name) => {
    const param = paramsOf(operation)[name];
    return param === undefined ? name : givenAs([name, param]);
  };
}

function askingPort(
  { asks }: Operation,
  { ledger, config, flags }: ContextSource,
): OperationContext["service"] {
  const pace = defined({ requestsPerSecond: flags.rate });
  return servicePort(
    config,
    // An operation that asks nothing may have no ledger open.
    (options) =>
      serviceClient(config, ledger.environment, { ...pace, ...options }),
    asks === undefined ? {} : {
      address: serviceEnvironment(config, ledger.environment).baseUrl,
      ...pace,
    },
  );
}

function filesPort(
  { io, ledger, config, inputs, endProgress }: ContextSource,
): LedgerFiles {
  return {
    left: () => leftSpoolFiles(spoolDirectory(config)),
    drain: () => drainLeft(spoolDirectory(config), ledger),
    compareStates: () => {
      endProgress();
      return ledger.verifyStates({ signal: io.signal });
    },
    read: (file) => {
      const input = inputs.get(file);
      if (input !== undefined) return input;
      throw new TypeError(`No parameter names the file ${file}`);
    },
    backUp: (file, onProgress) => backUp(io, config, { file, onProgress }),
    restore: (from) => restore(io, config, from),
    newSalt: () => crypto.getRandomValues(new Uint8Array(16)),
  };
}

/** Opens the files that parameters name: a wrong name leaves nothing behind. */
async function openInputs(
  io: Io,
  operation: Operation,
  values: OperationValues,
): Promise<Inputs> {
  const inputs = new Map<string, AsyncIterable<Uint8Array>>();
  for (const [name, { isFile }] of taken(operation)) {
    const file: unknown = Reflect.get(values, name);
    if (!isFile || typeof file !== "string") continue;
    inputs.set(file, await openInput(file, io.signal));
  }
  return inputs;
}

/**
 * What asks the partner's chain nodes.
 *
 * @throws {UsageError} When none are known.
 */
async function chainPort(
  io: Io,
  ledger: Ledger,
  config: Config,
): Promise<Pick<OperationContext, "lookAtChain" | "lookAtChains">> {
  const { now, signal } = io;
  const nodes = await openWitness({ config, now }, ledger.environment);
  if (nodes === null) {
    throw new UsageError(
      `Missing setting: no chain nodes are known; set ${VARIABLES.chainsFile}`,
    );
  }
  const parts = { ...nodes, now };
  return {
    lookAtChain: (orderId) => lookAtOrder(ledger, orderId, parts),
    lookAtChains: (since) =>
      createWatcher({ ledger, ...parts }).once(defined({ signal, since })),
  };
}

/**
 * What client and ledger refused of an operation, in the words of its command.
 */
function refusedBy(operation: Operation): (error: unknown) => never {
  return (error) => {
    if (error instanceof ValidationError) {
      throw new UsageError(
        // Options of the client; here they are flags.
        error.message.replaceAll(
          /\b(\w+): true\b/g,
          (text, name) => flagOf(operation, name) ?? text,
        ),
        { cause: error },
      );
    }
    if (!(error instanceof ExpectationError)) throw error;
    const issues = error.issues.map(({ field, message }) =>
      `${fieldFlag(operation, field)} ${message}`
    ).join("; ");
    throw error.code === "invalid"
      ? new UsageError(`Wrong ${issues}`, { cause: error })
      : new CommandError(`Not recorded: ${issues}`, "in_use");
  };
}

/** The flag of a field that the ledger names, in its or the service's words. */
function fieldFlag(operation: Operation, field: string): string {
  // What is stated beside a session has flags of its own.
  const path = field.replace(/^expected\./, "expect_");
  const name = path.replaceAll(
    /_([a-z])/g,
    (_, letter) => letter.toUpperCase(),
  );
  const stated = name.replace(
    /^expect([a-z])/,
    (_, letter) => `expect${letter.toUpperCase()}`,
  );
  return flagOf(operation, stated) ?? field;
}

function flagOf(operation: Operation, name: string): string | null {
  const param = paramsOf(operation)[name];
  return param === undefined ? null : givenAs([name, param]);
}

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
  const { asks, counts, holds, opens = "read", result, scope } = operation;
  const asksService = asks === "lists" || asks === "sessions";
  return await withLedger(io, flags, {
    // What is read has to go somewhere.
    opens: asksService ? "begins" : opens,
    // Long work is told of and stopped meanwhile.
    worker: scope !== "read" || counts !== undefined || "text" in result,
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
