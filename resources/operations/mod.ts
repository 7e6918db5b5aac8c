/**
 * What can be asked of a ledger and done to it: a command, a route of the API
 * and a form of the console are made of each, where it has them.
 *
 * @module
 */
import { CASE, CHANGE_CASE, TAKE_NOTE } from "./case_operation.ts";
import { DELIVERIES, DELIVERY } from "./delivery_operations.ts";
import { CREATE_SESSION, EXPECT } from "./expectation_operations.ts";
import {
  EVIDENCE,
  LEDGER_STATS,
  PRUNE,
  REFOLD,
  STATISTICS,
  STATUS,
  VERIFY,
} from "./ledger_operations.ts";
import { CLOSE_MONTH, MONTH, MONTHS } from "./month_operations.ts";
import type { Operation } from "./operation.ts";
import {
  EXPLANATION,
  ORDER,
  ORDER_AS_OF,
  ORDER_TOTALS,
  ORDERS,
  RELEASE_BY_HAND,
} from "./order_operations.ts";
import { ATTENTION_LIST, FIND } from "./search_operations.ts";
import {
  POLL_NOW,
  READ_ORDER,
  RECONCILE,
  RECOVER,
} from "./service_operations.ts";
import {
  DROP,
  FIRE,
  FIRE_HISTORY,
  RESUME,
  RETRY,
  STOP,
  SUBSCRIPTIONS,
  UNFIRED,
} from "./subscription_operations.ts";
import { LOOK_AT_CHAIN } from "./witness_operation.ts";
import { ERASE_USER, ERASED_USERS, USER, USERS } from "./user_operations.ts";

/** Every operation. */
export const OPERATIONS: readonly Operation[] = [
  ORDERS,
  ORDER_TOTALS,
  ORDER,
  ORDER_AS_OF,
  EXPLANATION,
  RELEASE_BY_HAND,
  CASE,
  CHANGE_CASE,
  LOOK_AT_CHAIN,
  USERS,
  USER,
  ERASE_USER,
  ERASED_USERS,
  ATTENTION_LIST,
  FIND,
  DELIVERIES,
  DELIVERY,
  SUBSCRIPTIONS,
  RETRY,
  DROP,
  STOP,
  RESUME,
  UNFIRED,
  FIRE,
  FIRE_HISTORY,
  EXPECT,
  CREATE_SESSION,
  POLL_NOW,
  READ_ORDER,
  RECOVER,
  RECONCILE,
  TAKE_NOTE,
  MONTHS,
  MONTH,
  CLOSE_MONTH,
  LEDGER_STATS,
  VERIFY,
  REFOLD,
  PRUNE,
  EVIDENCE,
  STATUS,
  STATISTICS,
];
