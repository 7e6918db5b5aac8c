import type { JsonSchema } from "../../resources/schemas/json_schema.ts";
import { messageOf } from "../../core/guards.ts";
import { ATTENTION_KINDS } from "../../ledger/for_resources.ts";
import { matcher, type Pattern } from "../../ledger/for_server.ts";
import { UsageError } from "../../settings/errors.ts";
import { moment, wholeNumber, windowEnd } from "../../settings/values.ts";
import {
  anomalyKind,
  attentionKind,
} from "../../resources/queries/order_filters.ts";
import type { AttentionKind, Transition } from "../../ledger/mod.ts";

/** A parameter of a query: how it is described, and how it is read. */
export interface Param<Value> {
  /** What it does. */
  readonly description: string;
  /** JSON Schema of its text. */
  readonly schema: JsonSchema;
  /** Whether it may not be left out. @default {false} */
  readonly required?: true;
  /**
   * Reads its value.
   *
   * @throws {UsageError} When the text is wrong.
   */
  readonly read: (name: string, text: string) => Value;
}

/** The parameters of a route, by name. */
export type Params = Readonly<Record<string, Param<unknown>>>;

/** The values of parameters; those that were left out are absent. */
export type ValuesOf<P extends Params> = {
  readonly [Name in keyof P]?: P[Name] extends Param<infer Value> ? Value
    : never;
};

/**
 * Reads the parameters of a request. An unknown one is refused: a mistyped
 * filter would look like an answer.
 *
 * @throws {UsageError} When one is unknown, wrong, repeated or missing.
 */
export function readParams<P extends Params>(
  params: P,
  query: URLSearchParams,
): ValuesOf<P> {
  const values: Record<string, unknown> = {};
  for (const [name, text] of query) {
    const param = Object.hasOwn(params, name) ? params[name] : undefined;
    if (param === undefined) {
      const names = Object.keys(params);
      throw new UsageError(
        `Unknown parameter "${name}": ` +
          (names.length === 0
            ? "this takes none"
            : `this takes ${names.join(", ")}`),
      );
    }
    if (Object.hasOwn(values, name)) {
      throw new UsageError(`Wrong ${name}: it is given twice`);
    }
    values[name] = param.read(name, text);
  }
  for (const [name, { required }] of Object.entries(params)) {
    if (required && !Object.hasOwn(values, name)) {
      throw new UsageError(`Missing ${name}: ${params[name]?.description}`);
    }
  }
  return values as ValuesOf<P>;
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
    read: (name, text) => wholeNumber(name, min, max)(text),
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
    read: (name, text) => {
      const word = words.find((one) => one === text);
      if (word !== undefined) return word;
      throw new UsageError(
        `Wrong ${name}: "${text}" is none of ${words.join(", ")}`,
      );
    },
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

const TIMES = "a day (2026-11-20) or a time with its zone " +
  "(2026-11-20T14:30:00Z)";

/** A time. */
export function timeParam(description: string): Param<string> {
  return {
    description: `${description}: ${TIMES}`,
    schema: { type: "string" },
    read: (name, text) => moment(name)(text),
  };
}

/** The end of a window; a day is in it whole. */
export function endParam(description: string): Param<string> {
  return {
    description: `${description}: ${TIMES}; a day is in it whole`,
    schema: { type: "string" },
    read: (name, text) => windowEnd(name)(text),
  };
}

/** Why orders wait for a person. */
export function attentionParam(description: string): Param<AttentionKind> {
  return {
    description,
    schema: { type: "string", enum: ATTENTION_KINDS },
    read: attentionKind,
  };
}

/** A kind of anomaly, or `true` for any. */
export function anomalyParam(description: string): Param<string | true> {
  return {
    description,
    schema: { type: "string" },
    read: (name, text) => text === "true" ? true : anomalyKind(name, text),
  };
}

/** Patterns of transitions, as subscriptions have them. */
export function patternsParam(
  description: string,
): Param<(transition: Transition) => boolean> {
  return {
    description,
    schema: { type: "string", minLength: 1 },
    read: (name, text) => {
      try {
        return matcher(text.split(",").map((one) => one.trim()) as Pattern[]);
      } catch (error) {
        // What a program may pass beside patterns cannot be said here.
        const [what = ""] = messageOf(error).split("; a status");
        throw new UsageError(
          `Wrong ${name}: ${what.replace("Wrong pattern: ", "")}`,
        );
      }
    },
  };
}

/** Which page of a list. */
export const PAGE = {
  cursor: textParam("`next` of the page before"),
  limit: wholeParam(
    "At most this many, and at most 4 MB of them: follow `next`",
    { min: 1, max: 1000, usual: 100 },
  ),
} as const satisfies Params;
