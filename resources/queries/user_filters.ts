import { defined } from "../../core/guards.ts";
import type { LedgerTypes, UserQuery } from "../../ledger/mod.ts";
import {
  endParam,
  textParam,
  timeParam,
  wordParam,
} from "../../settings/params.ts";
import {
  type FilterValues,
  justBefore,
  type ListFilter,
} from "./list_filters.ts";

function filter<Value>(
  operand: string,
  param: Omit<ListFilter<Value>, "operand">,
): ListFilter<Value> {
  return { ...param, operand };
}

/** What chooses users. A day in `to` is in it whole. */
export const USER_FILTERS = {
  status: filter(
    "<status>",
    textParam(
      "Only users of this status: banned, unknown, or what the service says " +
        "of the verification, for example success",
    ),
  ),
  trust: filter(
    "<trust>",
    wordParam("Only users of this trust", ["claimed", "confirmed"]),
  ),
  from: filter("<time>", timeParam("Created at this time or later")),
  to: filter("<time>", endParam("Created before this time")),
};

/** The values of filters; those that were left out are absent. */
export type UserFilters = FilterValues<typeof USER_FILTERS>;

/** The filters as a query of the ledger. */
export function userQuery({ status, trust, from, to }: UserFilters): UserQuery {
  return defined({
    // The service may use other words than are known.
    status: status as LedgerTypes.UserStatus["status"] | undefined,
    trust,
    createdAfter: from && justBefore(from),
    createdUpTo: to && justBefore(to),
  });
}
