import type { Ledger, OrderQuery } from "../../ledger/mod.ts";
import {
  ANOMALY_KINDS,
  ATTENTION_KINDS,
  orderMachine,
} from "../../ledger/for_resources.ts";
import { UsageError } from "../../core/settings/errors.ts";
import {
  endParam,
  type Param,
  textParam,
  timeParam,
  wordParam,
} from "../../core/settings/params.ts";
import {
  dayAfter,
  dayParam,
  type FilterValues,
  justBefore,
  type ListFilter,
  listFilter,
  queryOf,
} from "./list_filters.ts";
import { OUTCOME_WORDS } from "../wording/outcome.ts";
import { RELEASE, RELEASE_REASON } from "../wording/release.ts";

/** The statuses that are documented; the service may use new ones. */
export const STATUSES: readonly string[] = Object.keys(orderMachine.states);

/** A filter of the orders that have a value in a field of the query. */
function having<Field extends keyof OrderQuery>(
  field: Field,
  operand: string,
  param: Param<NonNullable<OrderQuery[Field]>>,
): ListFilter<NonNullable<OrderQuery[Field]>, OrderQuery> {
  return listFilter(param, operand, (value) => ({ [field]: value }));
}

/** What the ledger can compare. */
const AMOUNT = /^(?:0|[1-9]\d{0,8})(?:\.\d{1,6}0*)?$/;

const anyAnomaly = wordParam("", ANOMALY_KINDS);

/**
 * What chooses orders. A day in `to` is in it whole, and no day is in two
 * windows.
 */
export const ORDER_FILTERS = {
  status: having(
    "status",
    "<status>",
    textParam(
      `Only orders in this status: ${STATUSES.join(", ")}, or one that the ` +
        "service invented later",
    ),
  ),
  trust: having(
    "trust",
    "<trust>",
    wordParam("Only orders of this trust", ["claimed", "confirmed"]),
  ),
  user: having("userId", "<id>", textParam("Only orders of this user")),
  click: having("clickId", "<id>", textParam("Only orders of this click id")),
  asset: having(
    "commodity",
    "<code>",
    textParam("Only orders of this asset, for example USDC"),
  ),
  network: having(
    "network",
    "<name>",
    textParam("Only orders on this network, for example ethereum"),
  ),
  currency: having(
    "currency",
    "<code>",
    textParam("Only orders in this currency, for example EUR"),
  ),
  min: having(
    "amountFrom",
    "<amount>",
    amountParam("Only orders of this amount or more"),
  ),
  max: having(
    "amountTo",
    "<amount>",
    amountParam("Only orders of this amount or less"),
  ),
  reference: having(
    "reference",
    "<text>",
    textParam("Only orders of this reference of yours, or this external id"),
  ),
  day: listFilter(
    dayParam("Created on this day"),
    "<day>",
    (day): OrderQuery => ({
      createdAfter: justBefore(day),
      createdUpTo: justBefore(dayAfter(day)),
    }),
  ),
  from: listFilter(
    timeParam("Created at this time or later"),
    "<time>",
    (from): OrderQuery => ({ createdAfter: justBefore(from) }),
  ),
  to: listFilter(
    endParam("Created before this time"),
    "<time>",
    (to): OrderQuery => ({ createdUpTo: justBefore(to) }),
  ),
  anomaly: having("anomaly", "[kind]", {
    description: "Only orders with an anomaly of this kind, or with any: true",
    schema: { type: "string", enum: ["true", ...ANOMALY_KINDS] },
    read: (name, text) => text === "true" || anyAnomaly.read(name, text),
  }),
  attention: having(
    "attention",
    "<kind>",
    wordParam(
      "Only orders that wait for a person for this reason, for example stuck",
      ATTENTION_KINDS,
    ),
  ),
  outcome: having(
    "outcome",
    "<code>",
    wordParam(
      "Only orders with this outcome, for example session_matched",
      keysOf(OUTCOME_WORDS),
    ),
  ),
  release: having(
    "release",
    "<release>",
    wordParam("Only orders of this release", keysOf(RELEASE)),
  ),
  reason: having(
    "releaseReason",
    "<reason>",
    wordParam(
      "Only orders whose release has this reason, for example several_match",
      keysOf(RELEASE_REASON),
    ),
  ),
};

/** Name of a filter. */
export type OrderFilterName = keyof typeof ORDER_FILTERS;

/** The names of all filters. */
export const ORDER_FILTER_NAMES = Object.keys(
  ORDER_FILTERS,
) as readonly OrderFilterName[];

/** The values of filters; those that were left out are absent. */
export type OrderFilters = FilterValues<typeof ORDER_FILTERS>;

/** The filters as a query of the ledger. */
export function orderQuery(filters: OrderFilters): OrderQuery {
  return queryOf<OrderQuery>(ORDER_FILTERS, filters);
}

/**
 * Refuses a status that is mistyped: an empty list would look like an answer.
 * One that is not documented is taken once an order has it.
 *
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
    `Wrong ${field}: "${status}" is not one of ${
      STATUSES.join(", ")
    }, and no ` +
      "order of this ledger has it",
  );
}

/** An amount that lists are chosen by. */
function amountParam(description: string): Param<string> {
  return {
    description: `${description}, in the order's currency, for example 100.50`,
    schema: { type: "string", pattern: AMOUNT.source },
    read: (name, text) => {
      if (AMOUNT.test(text)) return text;
      throw new UsageError(
        `Wrong ${name}: "${text}" is not an amount; write it like 100.50, with ` +
          "at most nine digits before the point and six behind",
      );
    },
  };
}

function keysOf<Key extends string>(
  table: Readonly<Record<Key, unknown>>,
): readonly Key[] {
  return Object.keys(table) as Key[];
}
