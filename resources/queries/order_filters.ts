import type { Ledger, OrderQuery, OrderState } from "../../ledger/mod.ts";
import {
  ANOMALY_KINDS,
  ATTENTION_KINDS,
  attentionOf,
  CASE_STATES,
  orderMachine,
} from "../../ledger/for_resources.ts";
import { UsageError } from "../../settings/errors.ts";
import {
  endParam,
  type Param,
  textParam,
  timeParam,
  wordParam,
} from "../../settings/params.ts";
import { RELEASE, RELEASE_REASON } from "../wording/release.ts";

/** The statuses that are documented; the service may use new ones. */
export const STATUSES: readonly string[] = Object.keys(orderMachine.states);

/** One way to choose orders. */
export interface OrderFilter<Value> extends Param<Value> {
  /** What stands for the value where the flag of a command is described. */
  readonly operand: string;
  /** What the ledger is asked for. */
  readonly query: (value: Value) => OrderQuery;
  /** Whether an order is chosen, at a time in ms since the epoch. */
  readonly holds: (order: OrderState, value: Value, nowMs: number) => boolean;
}

function filter<Value>(
  param: Param<Value>,
  how: Omit<OrderFilter<Value>, keyof Param<Value>>,
): OrderFilter<Value> {
  return { ...param, ...how };
}

const anyAnomaly = wordParam("", ANOMALY_KINDS);

/**
 * What chooses orders, by the name of the flag, of the parameter of the API and
 * of the field of the console's form; all that are given must hold. A day in
 * `to` is in it whole, and no day is in two windows.
 */
export const ORDER_FILTERS = {
  status: filter(
    textParam(
      `Only orders in this status: ${STATUSES.join(", ")}, or one that the ` +
        "service invented later",
    ),
    {
      operand: "<status>",
      query: (status) => ({ status }),
      holds: (order, status) => order.status === status,
    },
  ),
  trust: filter(
    wordParam("Only orders of this trust", ["claimed", "confirmed"]),
    {
      operand: "<trust>",
      query: (trust) => ({ trust }),
      holds: (order, trust) => order.trust === trust,
    },
  ),
  user: filter(textParam("Only orders of this user"), {
    operand: "<id>",
    query: (userId) => ({ userId }),
    holds: (order, userId) => order.userId === userId,
  }),
  click: filter(textParam("Only orders of this click id"), {
    operand: "<id>",
    query: (clickId) => ({ clickId }),
    holds: ({ clickId, claimed }, click) =>
      clickId === click || claimed?.clickId === click,
  }),
  asset: filter(textParam("Only orders of this asset, for example USDC"), {
    operand: "<code>",
    query: (commodity) => ({ commodity }),
    holds: (order, asset) => order.commodity === asset.toUpperCase(),
  }),
  from: filter(timeParam("Created at this time or later"), {
    operand: "<time>",
    query: (from) => ({ createdAfter: justBefore(from) }),
    holds: ({ createdAt }, from) =>
      createdAt !== null && Date.parse(createdAt) >= Date.parse(from),
  }),
  to: filter(endParam("Created before this time"), {
    operand: "<time>",
    query: (to) => ({ createdUpTo: justBefore(to) }),
    holds: ({ createdAt }, to) =>
      createdAt !== null && Date.parse(createdAt) < Date.parse(to),
  }),
  anomaly: filter<string | true>(
    {
      description:
        "Only orders with an anomaly of this kind, or with any: true",
      schema: { type: "string", enum: ["true", ...ANOMALY_KINDS] },
      read: (name, text) => text === "true" || anyAnomaly.read(name, text),
    },
    {
      operand: "[kind]",
      query: (anomaly) => ({ anomaly }),
      holds: ({ anomalies }, anomaly) =>
        anomalies.some(({ kind }) => anomaly === true || kind === anomaly),
    },
  ),
  attention: filter(
    wordParam(
      "Only orders that wait for a person for this reason, for example stuck",
      ATTENTION_KINDS,
    ),
    {
      operand: "<kind>",
      query: (attention) => ({ attention }),
      holds: (order, attention, nowMs) =>
        attentionOf(order, nowMs).includes(attention),
    },
  ),
  case: filter(
    wordParam(
      "Only orders whose case a person has brought here, for example asked",
      CASE_STATES.filter((state) => state !== "open"),
    ),
    {
      operand: "<state>",
      query: (state) => ({ case: state }),
      holds: (order, state) => order.case?.state === state,
    },
  ),
  release: filter(
    wordParam("Only orders of this release", keysOf(RELEASE)),
    {
      operand: "<release>",
      query: (release) => ({ release }),
      holds: (order, release) => order.release === release,
    },
  ),
  reason: filter(
    wordParam(
      "Only orders whose release has this reason, for example several_match",
      keysOf(RELEASE_REASON),
    ),
    {
      operand: "<reason>",
      query: (releaseReason) => ({ releaseReason }),
      holds: (order, reason) => order.releaseReason === reason,
    },
  ),
};

/** Name of a filter. */
export type OrderFilterName = keyof typeof ORDER_FILTERS;

/** The names of all filters. */
export const ORDER_FILTER_NAMES = Object.keys(
  ORDER_FILTERS,
) as readonly OrderFilterName[];

/** The values of filters; those that were left out are absent. */
export type OrderFilters = {
  readonly [Name in OrderFilterName]?: (typeof ORDER_FILTERS)[Name] extends
    OrderFilter<infer Value> ? Value : never;
};

/**
 * Reads the filters of a form or an address.
 *
 * @param text Gives the text of a filter; the empty one is none.
 * @throws {UsageError} When one is wrong.
 */
export function readFilters(
  text: (name: OrderFilterName) => string | undefined,
): OrderFilters {
  return Object.fromEntries(ORDER_FILTER_NAMES.flatMap((name) => {
    const given = text(name)?.trim() ?? "";
    const { read }: Param<unknown> = ORDER_FILTERS[name];
    return given === "" ? [] : [[name, read(name, given)]];
  }));
}

/** Those that were given, each with its value. */
function given(
  filters: OrderFilters,
): readonly (readonly [OrderFilter<unknown>, unknown])[] {
  return ORDER_FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    return value === undefined
      ? []
      // A filter is given values that it read itself.
      : [[ORDER_FILTERS[name] as OrderFilter<unknown>, value] as const];
  });
}

/** The filters as a query of the ledger. */
export function orderQuery(filters: OrderFilters): OrderQuery {
  return Object.assign(
    {},
    ...given(filters).map(([{ query }, value]) => query(value)),
  );
}

/**
 * Whether an order is one that the filters choose: for states that are not
 * those of the read model.
 *
 * @param nowMs The time that `stuck` goes by, in ms since the epoch.
 */
export function matches(
  order: OrderState,
  filters: OrderFilters,
  nowMs: number,
): boolean {
  return given(filters).every(([{ holds }, value]) =>
    holds(order, value, nowMs)
  );
}

/**
 * Refuses a status that is mistyped: an empty list would look like an answer.
 * One that is not documented is taken once an order has it.
 *
 * @param field Where it was given, for the message.
 * @throws {UsageError} When it is neither documented nor in the ledger.
 */
export async function checkStatus(
  ledger: Ledger,
  field: string,
  status: string | undefined,
): Promise<void> {
  if (status === undefined || STATUSES.includes(status)) return;
  const { orders } = await ledger.orders.page({ status, limit: 1 });
  if (orders.length > 0) return;
  throw new UsageError(
    `Wrong ${field}: "${status}" is none of ${STATUSES.join(", ")}, and no ` +
      "order of this ledger has it",
  );
}

/** A window holds its start and not its end, so that days do not overlap. */
function justBefore(time: string): string {
  return new Date(Date.parse(time) - 1).toISOString();
}

function keysOf<Key extends string>(
  table: Readonly<Record<Key, unknown>>,
): readonly Key[] {
  return Object.keys(table) as Key[];
}
