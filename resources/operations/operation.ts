import type { SessionsApi } from "../../client/mod.ts";
import {
  type Ledger,
  ReleaseError,
  type StatesVerification,
} from "../../ledger/mod.ts";
import type { Scope } from "../../core/settings/values.ts";
import type { ConfigFlags } from "../../core/settings/config.ts";
import {
  CommandError,
  type EXIT,
  UsageError,
} from "../../core/settings/errors.ts";
import {
  flagParam,
  type Param,
  type Params,
  textParam,
  type ValuesOf,
  wordParam,
} from "../../core/settings/params.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import type { PollClient, Poller } from "../../sync/mod.ts";
import type { OrderLook } from "../../witness/mod.ts";
import type { LookAtHealth } from "../health/finding.ts";
import type { CsvForm } from "../../core/csv/csv.ts";

/** A parameter of an operation, and how a command takes it. */
export interface OperationParam<Value> extends Param<Value> {
  /** The operand that it is, for example `<id>`. @default {a flag} */
  readonly place?: string;
  /** Its flag. @default {its name} */
  readonly flag?: string;
  /** What stands for its value beside the flag. @default "<text>" */
  readonly operand?: string;
  /** A flag for each of its words, with what it says, in place of a value. */
  readonly words?: Readonly<Record<string, string>>;
  /** Reads what a flag says, where that is written otherwise. */
  readonly readFlag?: (flag: string, text: string) => Value;
  /**
   * Reads it from a body.
   *
   * @default {texts, as they are read elsewhere}
   */
  readonly readJson?: (name: string, value: unknown) => Value;
  /** Whether it may be given several times: what is read is then a list. */
  readonly many?: true;
  /** Only commands take it, or only requests. @default {both} */
  readonly only?: "command" | "request";
  /** Whether a form that leaves it empty says that too. @default {left out} */
  readonly takesEmpty?: true;
  /** Whether it is who does it: a request then has the name of its token. */
  readonly isCaller?: true;
  /** Whether it names a file that is read; `-` is standard input. */
  readonly isFile?: true;
}

/** The values of an operation, whatever its parameters are. */
export type OperationValues = ValuesOf<Params>;

/** What operations work with. */
export interface OperationContext {
  /** The ledger; one that is not opened throws when it is used. */
  readonly ledger: Ledger;
  /** The time when it was begun, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Asks the service; null without an API key. */
  readonly service: ServicePort | null;
  /** What polls in this process; null where nothing does. */
  readonly poller: Pick<Poller, "pollNow"> | null;
  /** Looks how everything is. @default {by what the ledger has} */
  readonly look?: LookAtHealth;
  /**
   * Asks the partner's chain nodes about an order; null where none are known.
   *
   * @default {null}
   */
  readonly lookAtChain?: ((orderId: string) => Promise<OrderLook>) | null;
  /**
   * Asks them about every order whose look is due.
   *
   * @default {nothing asks about several}
   */
  readonly lookAtChains?: (since?: string) => Promise<readonly OrderLook[]>;
  /** How a parameter is named to whoever gave it, such as `--status`. */
  readonly named: (param: string) => string;
  /** Ends the work. */
  readonly signal: AbortSignal;
  /** Told how much is done, and of how much where that is known. */
  readonly onProgress: (done: number, total?: number) => void;
  /** Says to people what goes on. */
  readonly note: (text: string) => void;
  /** What works on the ledger's files; null where that is not for requests. */
  readonly files: LedgerFiles | null;
}

/** What asks the service. */
export interface ServicePort {
  /** Makes what reads its lists. */
  readonly lists: () => PollClient;
  /** What makes sessions. */
  readonly sessions: (
    allowUnlistedAssets?: boolean,
  ) => Pick<SessionsApi, "create">;
  /** Makes a click id. */
  readonly newClickId: () => string;
  /** Its address. @default {not said} */
  readonly address?: string;
  /** Requests a second. @default {the client's own} */
  readonly requestsPerSecond?: number;
}

/**
 * What asks the service.
 *
 * @throws {CommandError} Without an API key.
 */
export function serviceOf(
  { service }: Pick<OperationContext, "service">,
): ServicePort {
  if (service !== null) return service;
  throw new CommandError(
    "The service cannot be asked without an API key: set " + VARIABLES.apiKey,
  );
}

/** Where the text of a result is shown. */
export interface OperationView {
  /** Width of the terminal; null where it is none. */
  readonly columns: number | null;
  /** The time, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** The flags that named the ledger, for commands to go on with. */
  readonly flags: Pick<ConfigFlags, "databaseUrl" | "environment">;
  /** Whether the ledger is on a server. */
  readonly remote: boolean;
}

/** How a ledger is opened: what happens where there is none. */
export type OpenMode =
  /** The operation is refused. */
  | "read"
  /** It is begun. */
  | "begins"
  /** The same, and nothing is changed, not even by opening it. */
  | "unchanged"
  /** It is not opened: the operation works on its files. */
  | "closed";

/** Who else may use the file of a ledger meanwhile. */
export type LedgerHold =
  /** Anybody, but nobody may replace it. */
  | "shared"
  /** Nobody. */
  | "alone";

/** What a person is asked before something is done. */
interface Confirmation<Result> {
  /** What is to be done, for people. */
  readonly shows: readonly string[];
  /** What only `yes` answers; null where nothing is to be done. */
  readonly question: string | null;
  /** What `--json` prints where nobody said yes; null where it fails. */
  readonly instead: Result | null;
  /** What is said where nobody said yes. */
  readonly refusal: string;
  /** What stands in the way, whoever says yes. @default {nothing} */
  readonly obstacle?: string | null;
}

/** A result that is a list. */
export interface Items<Item> {
  /** The items; the command line prints one a line. */
  readonly items: readonly Item[];
}

/** A text that is made bit by bit: a file, or the body of an answer. */
export interface WrittenText {
  /** Its parts; nothing is read before they are asked for. */
  readonly parts: AsyncIterable<string>;
  /** Which of the media types it has. */
  readonly mediaType: string;
  /** Its last line where it is cut and was printed already. @default {none} */
  readonly cut?: () => string;
}

/** What an operation gives. */
interface OperationResult {
  /** Name of its JSON Schema; null where it gives a text or nothing. */
  readonly schema: string | null;
  /** What it is. */
  readonly description: string;
  /**
   * Whether it is a list of these, or one page of them, which a command
   * follows; or has `items`, of which a command prints one a line; or is a feed,
   * of which a request may wait for more.
   *
   * @default {one}
   */
  readonly many?: "list" | "items" | "feed" | PagedList;
  /**
   * The media types of a {@linkcode WrittenText}, with what it holds.
   *
   * @default {it is no text}
   */
  readonly text?: Readonly<Record<string, string>>;
  /** Status of the answer. @default {200} */
  readonly status?: 202;
  /** What else than 0 and 1 the command's exit code may be. @default {nothing} */
  readonly exitCodes?: string;
}

/** What is listed in pages. */
interface PagedList {
  /** What the rows are: `orders`. */
  readonly rows: string;
  /** Which of them come first: `newest`. */
  readonly first: string;
}

/**
 * Something that a person does to a ledger or asks of it, described once: the
 * command line, the API with its documentation, and the forms of the console
 * are made of it.
 */
export interface Operation<
  P extends Params = Params,
  Result extends object = object,
> {
  /**
   * Its command without the program's name; null where only requests do it, and
   * `onlyRequest` says why.
   */
  readonly command: string | null;
  /** Why no command does it. */
  readonly onlyRequest?: string;
  /**
   * Its path in the API, with the parameters that stand in it; null where only
   * a command does it, and `onlyCommand` says why.
   */
  readonly path: `/v1/${string}` | null;
  /** Why no request does it. */
  readonly onlyCommand?: string;
  /**
   * Who may; what only reads is a GET, else a POST. Null where anybody may who
   * reaches the port.
   */
  readonly scope: Scope | null;
  /** Unique name. */
  readonly operationId: string;
  /** What the log calls it. @default {the last word of its command} */
  readonly action?: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** More of it. */
  readonly description?: string;
  /** What the command is followed by, as examples. @default {nothing} */
  readonly examples?: readonly string[];
  /** What it is given. */
  readonly params: P;
  /** Whether requests give it in a body: addresses are logged. @default {false} */
  readonly inBody?: true;
  /** What it gives. */
  readonly result: OperationResult;
  /** Whether a command folds first what waits. @default {false} */
  readonly folds?: true;
  /** How a command opens the ledger. @default {"read"} */
  readonly opens?: OpenMode;
  /** Whether a command holds the ledger's file. @default {it does not} */
  readonly holds?: (values: ValuesOf<P>) => LedgerHold | undefined;
  /**
   * What it asks: of the service, where `claims` is asked only with a key; or
   * the partner's chain nodes.
   *
   * @default {nothing}
   */
  readonly asks?: "lists" | "sessions" | "claims" | "chain";
  /** Whether it may be refused because of what there is. @default {false} */
  readonly conflicts?: true;
  /**
   * What is counted while it works, for those who wait for a command.
   *
   * @default {nothing}
   */
  readonly counts?: string;
  /**
   * What is done and what is not, where Ctrl-C stopped it.
   *
   * @default {that what is stored stays}
   */
  readonly stopped?: (
    done: number,
    values: ValuesOf<P>,
    context: OperationContext,
  ) => string | Promise<string>;
  /** Why who sends a form has to say that they are sure. @default {they need not} */
  readonly final?: string;
  /**
   * What a person is asked before a command does it, unless `--yes` is given.
   *
   * @default {nothing}
   */
  readonly confirms?: (
    context: OperationContext,
    values: ValuesOf<P>,
    view: OperationView,
  ) => Promise<Confirmation<Result> | null>;
  /**
   * Refuses values that do not go together, before anything is opened.
   *
   * @throws {UsageError} When they do not.
   */
  readonly checks?: (
    values: ValuesOf<P>,
    context: Pick<OperationContext, "named" | "nowMs">,
  ) => void;
  /**
   * Does it.
   *
   * @throws {CommandError} When it cannot be done.
   */
  readonly run: (
    context: OperationContext,
    values: ValuesOf<P>,
  ) => Promise<Result>;
  /**
   * Refuses a result that is an answer to a request, and to a command a failure.
   *
   * @default {nothing}
   * @throws {CommandError} With what to do.
   */
  readonly refuses?: (
    context: OperationContext,
    result: Result,
    values: ValuesOf<P>,
  ) => Promise<void>;
  /**
   * What the log says of it. What a person wrote may name a customer.
   *
   * @default what it was given, and its result
   */
  readonly logged?: (result: Result, values: ValuesOf<P>) => object;
  /** That nothing was done, where so; null where something was. */
  readonly idle?: (result: Result) => string | null;
  /** Exit code of the command. @default {"fine"} */
  readonly exit?: (result: Result, values: ValuesOf<P>) => keyof typeof EXIT;
  /** What is said beside the result, on standard error. @default {nothing} */
  readonly notes?: (
    result: Result,
    values: ValuesOf<P>,
  ) => readonly string[];
  /**
   * The result for people: a sentence, or lines that fit the terminal.
   *
   * @default {its JSON}
   */
  readonly says?: (
    result: Result,
    values: ValuesOf<P>,
    view: OperationView,
  ) => string | readonly string[];
  /** What a command prints below a list for people. @default {nothing} */
  readonly below?: (
    context: OperationContext,
    values: ValuesOf<P>,
  ) => Promise<readonly string[]>;
}

/** Type-checks what an operation gives against what it says, then erases it. */
export function operation<
  P extends Readonly<Record<string, OperationParam<unknown>>>,
  Result extends object,
>(described: Operation<P, Result>): Operation {
  return described as unknown as Operation;
}

/** Parameters with how a command takes them. */
export function paramsOf(
  { params }: Operation,
): Readonly<Record<string, OperationParam<unknown>>> {
  return params;
}

/** A parameter with its name. */
export type Named = readonly [string, OperationParam<unknown>];

/** How a parameter is named to people: its operand, or its flag. */
export function givenAs(
  [name, { place, flag = kebab(name), words }]: Named,
): string {
  if (words !== undefined) {
    return Object.keys(words).map((word) => `--${word}`).join(" or ");
  }
  return place ?? `--${flag}`;
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Whether an operation changes nothing. */
export function onlyReads({ scope }: Operation): boolean {
  return scope === null || scope === "read";
}

/** Whether an operation gives one page of a list. */
export function pagesOf({ result: { many } }: Operation): PagedList | null {
  return typeof many === "object" ? many : null;
}

/** What an operation does, in one word: its command's last. */
export function actionOf({ action, command, operationId }: Operation): string {
  return action ?? command?.split(" ").at(-1) ?? operationId;
}

/**
 * Reads what an operation is given.
 *
 * @throws {UsageError} When one is wrong or missing.
 */
export function readValues(
  { params }: Operation,
  text: (name: string) => string | undefined,
): OperationValues {
  return valuesOf(params, (name, { read }) => {
    const given = text(name);
    return given === undefined ? undefined : read(name, given);
  });
}

/**
 * The values of parameters, none of which is missing.
 *
 * @throws {UsageError} When one is missing.
 */
export function valuesOf<P extends Param<unknown>>(
  params: Readonly<Record<string, P>>,
  value: (name: string, param: P) => unknown,
  named: (name: string, param: P) => string = (name) => name,
): OperationValues {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, param]) => {
      const given = value(name, param);
      if (given !== undefined) return [[name, given]];
      if (!param.required) return [];
      throw new UsageError(
        `Missing ${named(name, param)}: ${param.description}`,
      );
    }),
  );
}

/** A release by hand that was refused. */
export function refusedRecord(reference: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ReleaseError)) throw error;
    const { code, message } = error;
    const cause = { cause: error };
    if (code === "invalid") throw new UsageError(message, cause);
    if (code === "reference_missing") {
      throw new UsageError(`${message} with ${reference}`, cause);
    }
    throw new CommandError(
      message,
      code === "unknown_order" ? "not_found" : "failed",
    );
  };
}

/** What makes some spreadsheets read a file as UTF-8. */
const BYTE_ORDER_MARK = "\ufeff";

/** The file that a command writes a text to. */
export const OUTPUT: OperationParam<string> = {
  ...textParam("Write to this file, which appears only when it is complete"),
  operand: "<file>",
  only: "command",
};

/** How the numbers and cells of CSV are written. */
const CSV_FORM = {
  decimalMark: {
    ...wordParam(
      "What stands before decimals: a point, or a comma as German and French " +
        "spreadsheets read it; a point unless said",
      [".", ","],
    ),
    operand: "<mark>",
  },
  delimiter: {
    ...wordParam(
      "What stands between two cells; a comma unless said, and a semicolon " +
        "where decimals have the comma",
      [",", ";", "tab"],
    ),
    operand: "<mark>",
  },
} as const satisfies Readonly<Record<string, OperationParam<unknown>>>;

/** How a person wants CSV written. */
interface AskedForm {
  readonly decimalMark?: "." | ",";
  readonly delimiter?: "," | ";" | "tab";
}

/** The form that was asked for; undefined where none was. */
export function csvForm(
  { decimalMark, delimiter }: AskedForm,
): CsvForm | undefined {
  if (decimalMark === undefined && delimiter === undefined) return undefined;
  const between = delimiter ?? (decimalMark === "," ? ";" : ",");
  return {
    decimalMark: decimalMark ?? ".",
    delimiter: between === "tab" ? "\t" : between,
  };
}

/** What a command that writes CSV takes beside it. */
export const CSV_FILE = {
  ...CSV_FORM,
  output: OUTPUT,
  bom: {
    ...flagParam(
      "Begin the file with a byte-order mark, for spreadsheets that need it; " +
        "with --output",
    ),
    only: "command",
  },
} as const satisfies Readonly<Record<string, OperationParam<unknown>>>;

/** Where a command writes CSV. */
interface CsvFile {
  readonly output?: string;
  readonly bom?: boolean;
}

/**
 * Refuses a byte-order mark that no file begins with.
 *
 * @throws {UsageError} When there is no file.
 */
export function refuseMarkAlone({ output, bom = false }: CsvFile): void {
  if (!bom || output !== undefined) return;
  throw new UsageError("--bom is written to a file: add --output FILE");
}

/** The parts of a text, after the mark that it may begin with. */
export async function* marked(
  parts: AsyncIterable<string>,
  { bom = false }: CsvFile,
): AsyncGenerator<string> {
  if (bom) yield BYTE_ORDER_MARK;
  yield* parts;
}

/** What is true when the writing was stopped. */
export function notWritten(
  { output }: CsvFile,
  printed: string,
): string {
  return output === undefined ? printed : `${output} was not written`;
}

/** Deliveries that processes which ended have left in files. */
interface LeftDeliveries {
  /** Paths of files that can go into the ledger. */
  readonly waiting: readonly string[];
  /** Paths of damaged files, whose rest nobody reads. */
  readonly damaged: readonly string[];
}

/** What was restored, and where the ledger before it is now. */
export interface Restored {
  /** When, UTC ISO 8601. */
  readonly restoredAt: string;
  /** The ledger's file. */
  readonly file: string;
  /** What it was copied from. */
  readonly from: string;
  /** Where the old one is now; null when there was none. */
  readonly previousFile: string | null;
  /** Its environment. */
  readonly environment: string;
  /** Events in it. */
  readonly events: number;
  /** Hash of its last event. */
  readonly hash: string;
}

/** What works on the files of a ledger and beside it. */
export interface LedgerFiles {
  /** Which deliveries are left in files. */
  readonly left: () => Promise<LeftDeliveries>;
  /** Takes them into the ledger; gives what is left after that. */
  readonly drain: () => Promise<LeftDeliveries>;
  /** Compares every stored state with a fold from nothing in another file. */
  readonly compareStates: () => Promise<StatesVerification>;
  /** The bytes of a file that a parameter names. */
  readonly read: (file: string) => AsyncIterable<Uint8Array>;
  /**
   * Copies the ledger, which may be in use, into a file.
   *
   * @throws {CommandError} When the file exists or cannot be written.
   */
  readonly backUp: (
    file: string,
    onProgress: (megabytes: number) => void,
  ) => Promise<void>;
  /**
   * Puts a copy in the place of the ledger.
   *
   * @throws {CommandError} When the ledger is in use, or the copy is missing or
   * broken.
   */
  readonly restore: (from: string) => Promise<Restored>;
  /** Random bytes that an event is committed to with. */
  readonly newSalt: () => Uint8Array;
}

/**
 * What works on the files of a ledger.
 *
 * @throws {CommandError} Where it is not for requests.
 */
export function filesOf(
  { files }: { readonly files: LedgerFiles | null },
): LedgerFiles {
  if (files !== null) return files;
  throw new CommandError("Only a command does this, beside the ledger's files");
}
