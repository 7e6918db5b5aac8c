import { UsageError } from "./errors.ts";
import {
  moment,
  oneOf,
  TIME_FORMAT,
  wholeNumber,
  windowEnd,
} from "./values.ts";

/**
 * A parameter, wherever it is given: as a flag of a command, in the query of a
 * request, or in a form.
 */
export interface Param<Value> {
  /** What it does. */
  readonly description: string;
  /** JSON Schema of its text. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Whether it may not be left out. @default {false} */
  readonly required?: true;
  /** Reads its value. */
  readonly read: (name: string, text: string) => Value;
}

/** Parameters, by name. */
export type Params = Readonly<Record<string, Param<unknown>>>;

/** The value that a parameter reads. */
type ValueOf<P> = P extends Param<infer Value> ? Value : never;

/** The values of parameters; those that were left out are absent. */
export type ValuesOf<P extends Params> =
  & {
    readonly [Name in keyof P as P[Name] extends Needed ? Name : never]:
      ValueOf<P[Name]>;
  }
  & {
    readonly [Name in keyof P as P[Name] extends Needed ? never : Name]?:
      ValueOf<P[Name]>;
  };

/** What may not be left out. */
interface Needed {
  readonly required: true;
}

/** The same parameter, which may not be left out. */
export function needed<P extends Param<unknown>>(param: P): P & Needed {
  return { ...param, required: true };
}

/** Any text but the empty one. */
export function textParam(description: string): Param<string> {
  return {
    description,
    schema: { type: "string", minLength: 1 },
    read: (name, text) => {
      if (text.trim() !== "") return text;
      throw new UsageError(`Wrong ${name}: it is empty`);
    },
  };
}

/** A whole number. */
export function wholeParam(
  description: string,
  range: { readonly min: number; readonly max: number; readonly usual: number },
): Param<number> {
  const { min, max, usual } = range;
  return {
    description,
    schema: { type: "integer", minimum: min, maximum: max, default: usual },
    read: wholeNumber(min, max),
  };
}

/** One of a few words. */
export function wordParam<const Word extends string>(
  description: string,
  words: readonly Word[],
): Param<Word> {
  return {
    description,
    schema: { type: "string", enum: words },
    read: oneOf(words),
  };
}

/** Yes or no. */
export function flagParam(description: string): Param<boolean> {
  const word = wordParam(description, ["true", "false"]);
  return {
    ...word,
    schema: { type: "boolean", default: false },
    read: (name, text) => word.read(name, text) === "true",
  };
}

/** A time. */
export function timeParam(description: string): Param<string> {
  return {
    description: `${description} (${TIME_FORMAT})`,
    schema: { type: "string" },
    read: moment,
  };
}

/** The end of a window; a date includes its whole day. */
export function endParam(description: string): Param<string> {
  return {
    description:
      `${description} (${TIME_FORMAT}; a date includes its whole day)`,
    schema: { type: "string" },
    read: windowEnd,
  };
}
