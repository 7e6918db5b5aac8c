import { readQueryTime } from "../core/time/service_time.ts";
import type { ExtraParameters } from "./call_options.ts";
import type { Fault } from "./errors.ts";
import { describe, fieldsOf, unknownFields, without } from "./faults.ts";

/** The most rows that the service puts on a page. */
export const PAGE_ROWS = 20;

/** What kind of value a query parameter takes. */
export type Kind =
  | "text"
  | "cursor"
  | "list"
  | "limit"
  | "offset"
  | "order"
  | "time"
  | "dotted"
  | "alpha2"
  | "alpha3";

/** The parameters of an endpoint. */
export interface QueryTable {
  /** What each takes. */
  readonly kinds: Readonly<Record<string, Kind>>;
  /** Those of a window's start and end. */
  readonly range: readonly [start: string, end: string];
  /** What was probably meant by another name. */
  readonly meant: Readonly<Record<string, string>>;
}

/** A query that was looked at: every fault, and the parameters to send. */
export interface CheckedQuery {
  readonly faults: readonly Fault[];
  /** Parameters in the order of the table; only meaningful without faults. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** Checks a query against a table; parameters in `extra` are sent unchecked. */
export function checkQuery(
  query: object,
  { kinds, range, meant }: QueryTable,
  extra: ExtraParameters = {},
): CheckedQuery {
  const fields = fieldsOf(query);
  const faults = unknownFields(fields, Object.keys(kinds), meant);
  const sent: Record<string, string> = {};
  for (const [name, kind] of Object.entries(kinds)) {
    const value = fields[name];
    // An empty cursor is the documented default: the first page.
    const isFirst = kind === "cursor" && value === "";
    if (value === undefined || isFirst || Object.hasOwn(extra, name)) continue;
    const read = readers[kind](value);
    if (typeof read === "string") sent[name] = read;
    else {
      faults.push({ field: name, rule: `is ${describe(value)}; ${read.rule}` });
    }
  }
  const [start = "", end = ""] = range.map((name) => sent[name]);
  if (Date.parse(start) >= Date.parse(end)) {
    faults.push({
      field: range[1],
      rule: `is ${end}, not after ${range[0]}; nothing can lie between them`,
    });
  }
  return {
    faults: without(extra, faults),
    parameters: Object.entries({ ...sent, ...extra })
      .map(([name, value]) => [name, String(value)]),
  };
}

/** The text to send, or the rule that a value breaks. */
type Read = string | { readonly rule: string };

const text = matching(/\S/, "use a text, or leave it out to match everything");
const listed = "separate texts with commas or pass an array";

const readers: Readonly<Record<Kind, (value: unknown) => Read>> = {
  text,
  cursor: text,
  list: readList,
  limit: whole(PAGE_ROWS, `use a whole number from 0 to ${PAGE_ROWS}`),
  offset: whole(Number.MAX_SAFE_INTEGER, "use a whole number from 0"),
  order: matching(/^(?:asc|desc)$/, `use "asc" or "desc"`),
  time: readTime,
  dotted: matching(
    /^[^.\s]+\.[^.\s]+\.[^.\s]+$/,
    "use the dotted form <commodity>.<type>.<network>, such as " +
      `"pol.simple.polygon"`,
  ),
  alpha2: matching(/^[A-Z]{2}$/, "use an ISO alpha-2 country code"),
  alpha3: matching(/^[A-Z]{3}$/, "use an ISO alpha-3 country code"),
};

function matching(form: RegExp, rule: string) {
  return (value: unknown): Read =>
    typeof value === "string" && form.test(value) ? value : { rule };
}

function whole(most: number, rule: string) {
  return (value: unknown): Read =>
    Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most
      ? String(value)
      : { rule };
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
  return items.join(",");
}

function readTime(value: unknown): Read {
  if (value instanceof Date && !Number.isNaN(value.getTime())) {
    return value.toISOString().replace(".000Z", "Z");
  }
  return typeof value === "string" && readQueryTime(value) !== null ? value : {
    rule: `use UTC as YYYY-MM-DDTHH:MM:SSZ, such as "2026-01-31T00:00:00Z", ` +
      "or a Date",
  };
}
