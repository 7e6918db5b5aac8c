import type { Ledger } from "../../ledger/mod.ts";
import type { Scope } from "../../settings/api_tokens.ts";
import type { ConfigFlags } from "../../settings/config.ts";
import type { Param } from "../../settings/params.ts";

/** The texts that an operation is given; those that were left out are absent. */
export type OperationValues = Readonly<Record<string, string | undefined>>;

/** Where the text of a result is shown. */
export interface OperationView {
  /** Width of the terminal; null where it is none. */
  readonly columns: number | null;
  /** The flags that named the ledger, for commands to go on with. */
  readonly flags: Pick<ConfigFlags, "databaseUrl" | "environment">;
}

/** A result that is a list. */
export interface Items<Item> {
  /** The items; the command line prints one a line. */
  readonly items: readonly Item[];
}

/**
 * Something that a person does to a ledger or asks of it, described once: the
 * command line, the API with its documentation, and the forms of the console
 * are made of it.
 */
export interface Operation<Result extends object = object> {
  /** Name of its command, and of it in the log. */
  readonly action: string;
  /** Its path in the API, with the parameters that stand in it. */
  readonly path: `/v1/${string}`;
  /** Who may; what only reads is a GET, else a POST. */
  readonly scope: Scope;
  /** Unique name in the API. */
  readonly operationId: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** More of it. */
  readonly description?: string;
  /** What the command is followed by, as an example. */
  readonly example?: string;
  /** What it is given. */
  readonly params: Readonly<Record<string, Param<string>>>;
  /** Name of the JSON Schema of what it gives, and what that is. */
  readonly result: {
    readonly schema: string;
    readonly description: string;
    /** Whether it is a list of these. @default {false} */
    readonly isList?: true;
  };
  /**
   * Does it.
   *
   * @throws {CommandError} When it cannot be done.
   */
  readonly run: (ledger: Ledger, values: OperationValues) => Promise<Result>;
  /**
   * What the log says of it. What a person wrote may name a customer.
   *
   * @default what it was given, and its result
   */
  readonly logged?: (result: Result, values: OperationValues) => object;
  /** The result for people: a sentence, or lines that fit the terminal. */
  readonly says: (
    result: Result,
    values: OperationValues,
    view: OperationView,
  ) => string | readonly string[];
}

/** Type-checks what an operation gives against what it says, then erases it. */
export function operation<Result extends object>(
  described: Operation<Result>,
): Operation {
  return described as unknown as Operation;
}

/**
 * Reads what an operation is given.
 *
 * @param text Gives the text of a parameter; undefined where it was left out.
 * @returns Its values; null where one is missing.
 * @throws {UsageError} When one is wrong.
 */
export function readValues(
  { params }: Operation,
  text: (name: string) => string | undefined,
): OperationValues | null {
  const values: Record<string, string> = {};
  for (const [name, { read, required }] of Object.entries(params)) {
    const given = text(name);
    if (given !== undefined) values[name] = read(name, given);
    else if (required) return null;
  }
  return values;
}
