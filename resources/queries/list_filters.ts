import { defined } from "../../core/guards.ts";
import { isCalendarDate } from "../../core/time/service_time.ts";
import { UsageError } from "../../core/settings/errors.ts";
import type { Param } from "../../core/settings/params.ts";

/** One way to choose rows of a list. */
export interface ListFilter<Value, Query extends object = object>
  extends Param<Value> {
  /** What stands for the value where the flag of a command is described. */
  readonly operand: string;
  /** Usual values, where others are taken too. @default {none} */
  readonly suggested?: readonly string[];
  /** What the ledger is asked for. */
  query(value: Value): Query;
}

/** A filter of a parameter. */
export function listFilter<Value, Query extends object>(
  param: Param<Value>,
  operand: string,
  query: (value: Value) => Query,
): ListFilter<Value, Query> {
  return { ...param, operand, query };
}

/**
 * The ways to choose rows of one list, by the name of the flag, of the parameter
 * of the API and of the field of the console's form; all that are given must
 * hold.
 */
export type ListFilters<Query extends object = object> = Readonly<
  Record<string, ListFilter<unknown, Query>>
>;

/** The values of filters; those that were left out are absent. */
export type FilterValues<Filters> = {
  readonly [Name in keyof Filters]?: Filters[Name] extends
    ListFilter<infer Value> ? Value : never;
};

/**
 * Reads the filters of a form or an address.
 *
 * @throws {UsageError} When one is wrong.
 */
export function readFilters<Filters extends ListFilters>(
  filters: Filters,
  text: (name: string) => string | undefined,
): FilterValues<Filters> {
  return Object.fromEntries(
    Object.entries(filters).flatMap(([name, { read }]) => {
      const given = text(name)?.trim() ?? "";
      return given === "" ? [] : [[name, read(name, given)]];
    }),
  ) as FilterValues<Filters>;
}

/** A day of a list, in UTC. */
export function dayParam(description: string): Param<string> {
  return {
    description: `${description} (UTC), for example 2026-11-20`,
    schema: { type: "string", format: "date" },
    read: (name, text) => {
      const day = text.trim();
      if (isCalendarDate(day)) return day;
      throw new UsageError(
        `Wrong ${name}: "${text}" is not a day; write it like 2026-11-20`,
      );
    },
  };
}

/** When the day after a day begins. */
export function dayAfter(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString();
}

const DAY_MS = 86_400_000;

/** Those that were given, as one query of the ledger. */
export function queryOf<Query extends object>(
  filters: ListFilters<Query>,
  values: object,
): Partial<Query> {
  return Object.entries(filters).flatMap(([name, filter]) => {
    const value: unknown = Reflect.get(values, name);
    return value === undefined ? [] : [filter.query(value)];
  }).reduce<Partial<Query>>(
    (all, one) => ({ ...all, ...one, ...windowOfBoth(all, one) }),
    {},
  );
}

/** When rows were created, where a query says so. */
interface Window {
  readonly createdAfter?: string;
  readonly createdUpTo?: string;
}

/** What two windows share: a day, and from when or until when. */
function windowOfBoth(a: Window, b: Window): Window {
  const [from, to] = [
    [a.createdAfter, b.createdAfter].filter((time) => time !== undefined)
      .sort().at(-1),
    [a.createdUpTo, b.createdUpTo].filter((time) => time !== undefined)
      .sort().at(0),
  ];
  return defined({ createdAfter: from, createdUpTo: to });
}

/**
 * A moment just before another: a window holds its start and not its end, so
 * that days do not overlap.
 */
export function justBefore(time: string): string {
  return new Date(Date.parse(time) - 1).toISOString();
}

/**
 * Refuses a window that holds no moment: an empty list would look like an
 * answer.
 *
 * @throws {UsageError} When `to` is not after `from`.
 */
export function refuseEmptyWindow(
  { from, to }: { readonly from?: string; readonly to?: string },
  named: (filter: string) => string,
): void {
  if (from === undefined || to === undefined || from < to) return;
  throw new UsageError(
    `Wrong ${named("to")}: the window would end at ${to}, and begins at ` +
      `${from} (${named("from")}); give a ${named("to")} that is later`,
  );
}
