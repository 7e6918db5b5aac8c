import type { Fault } from "../errors/validation_error.ts";
import type { ExtraParameters } from "../http/call_options.ts";
import { readQueryTime } from "../../core/time/service_time.ts";
import { describe, Faults, objectOf } from "./_faults.ts";

/** The most rows that the service puts on a page. */
export const PAGE_ROWS = 20;

/** What kind of value a query parameter takes. */
export type Kind =
  | "text"
  | "list"
  | "limit"
  | "offset"
  | "order"
  | "time"
  | "dotted"
  | "alpha2"
  | "alpha3";

/** A query that was looked at: every fault, and the parameters to send. */
export interface CheckedQuery {
  /** Every broken rule. */
  readonly faults: readonly Fault[];
  /** Parameters in the order of the table; only meaningful without faults. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

const listed = "separate texts with commas or pass an array";

/** The parameters of an endpoint. */
export interface QueryTable {
  /** What each takes. */
  readonly kinds: Readonly<Record<string, Kind>>;
  /** Those of a window's start and end. */
  readonly range: readonly [start: string, end: string];
  /** What was probably meant by another name. */
  readonly meant: Readonly<Record<string, string>>;
}

/** Checks a query against a table; parameters in `extra` are sent unchecked. */
export function checkQuery(
  query: object,
  { kinds, range, meant }: QueryTable,
  extra: ExtraParameters,
): CheckedQuery {
  const fields = objectOf(query);
  const faults = new Faults();
  const parameters: [string, string][] = [];
  faults.unknownFields(fields, Object.keys(kinds), meant);
  for (const name in kinds) {
    const value = fields[name];
    const kind = kinds[name];
    if (value === undefined || kind === undefined) continue;
    if (Object.hasOwn(extra, name)) continue;
    const read = readers[kind](value);
    if (read.rule !== undefined) {
      faults.add(name, `is ${describe(value)}; ${read.rule}`);
    } else {
      parameters.push([name, read.text]);
    }
  }
  const textOf = (name: string) =>
    parameters.find(([known]) => known === name)?.[1];
  const [start, end] = [textOf(range[0]), textOf(range[1])];
  if (
    start !== undefined && end !== undefined &&
    Date.parse(start) >= Date.parse(end)
  ) {
    faults.add(
      range[1],
      `is ${end}, not after ${range[0]}; nothing can lie between them`,
    );
  }
  for (const [name, value] of Object.entries(extra)) {
    parameters.push([name, String(value)]);
  }
  return {
    faults: faults.list.filter(({ field }) => !Object.hasOwn(extra, field)),
    parameters,
  };
}

type Read =
  | { readonly text: string; readonly rule?: undefined }
  | { readonly rule: string };

const readers: Readonly<Record<Kind, (value: unknown) => Read>> = {
  text: (value) =>
    matching(value, /\S/, "use a text, or leave it out to match everything"),
  list: readList,
  limit: (value) =>
    integer(value, PAGE_ROWS) ??
      { rule: `use a whole number from 0 to ${PAGE_ROWS}` },
  offset: (value) =>
    integer(value, Number.MAX_SAFE_INTEGER) ??
      { rule: "use a whole number from 0" },
  order: (value) => matching(value, /^(?:asc|desc)$/, `use "asc" or "desc"`),
  time: readTime,
  dotted: (value) =>
    matching(
      value,
      /^[^.\s]+\.[^.\s]+\.[^.\s]+$/,
      `use the dotted form <commodity>.<type>.<network>, such as ` +
        `"pol.simple.polygon"`,
    ),
  alpha2: (value) =>
    matching(value, /^[A-Z]{2}$/, "use an ISO alpha-2 country code"),
  alpha3: (value) =>
    matching(value, /^[A-Z]{3}$/, "use an ISO alpha-3 country code"),
};

function matching(value: unknown, pattern: RegExp, rule: string): Read {
  return typeof value === "string" && pattern.test(value)
    ? { text: value }
    : { rule };
}

function integer(value: unknown, most: number): Read | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 &&
      Number(value) <= most
    ? { text: String(value) }
    : null;
}

/** Refuses an empty list, which the service would take to match everything. */
function readList(value: unknown): Read {
  const items = Array.isArray(value) ? value : [value];
  if (items.length === 0) return { rule: `name at least one; ${listed}` };
  for (const item of items) {
    if (typeof item !== "string" || item.split(",").some((id) => !id.trim())) {
      return { rule: `no part may be empty; ${listed}` };
    }
    if (Array.isArray(value) && item.includes(",")) {
      return { rule: `no element may hold a comma; ${listed}` };
    }
  }
  return { text: items.join(",") };
}

function readTime(value: unknown): Read {
  const rule = `use UTC as YYYY-MM-DDTHH:MM:SSZ, such as ` +
    `"2026-01-31T00:00:00Z", or a Date`;
  if (value instanceof Date) {
    return Number.isNaN(value.getTime())
      ? { rule }
      : { text: value.toISOString().replace(".000Z", "Z") };
  }
  return typeof value === "string" && readQueryTime(value) !== null
    ? { text: value }
    : { rule };
}
