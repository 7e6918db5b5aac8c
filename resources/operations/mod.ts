/**
 * What can be asked of a ledger and done to it: a command, a route of the API
 * and a form of the console are made of each, where it has them.
 *
 * @module
 */
import {
  DELIVERIES,
  DELIVERY,
  HEALTH,
  REPLAY,
  TRANSITIONS,
} from "./delivery_operations.ts";
import { CREATE_SESSION, EXPECT } from "./expectation_operations.ts";
import {
  EXPLANATION,
  EXPORT_ORDERS,
  NOTES,
  ORDER,
  ORDER_AS_OF,
  ORDER_TOTALS,
  ORDERS,
  RELEASE_BY_HAND,
  TAKE_NOTE,
} from "./order_operations.ts";
import {
  BACK_UP,
  EVIDENCE,
  EXPORT_LEDGER,
  IMPORT_LEDGER,
  LEDGER_STATS,
  PRUNE,
  REFOLD,
  RESTORE,
  STATUS,
  VERIFY,
} from "./ledger_operations.ts";
import {
  CLOSE_MONTH,
  MONTH,
  MONTH_FILE,
  MONTH_RECOMPUTED,
  MONTHS,
} from "./month_operations.ts";
import {
  LOOK_AT_CHAIN,
  LOOK_AT_CHAINS,
  POLL,
  POLL_NOW,
  POLL_ONCE,
  READ_ORDER,
  RECONCILE,
  RECOVER,
} from "./service_operations.ts";
import { ATTENTION_LIST, FIND } from "./search_operations.ts";
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
import { ERASE_USER, ERASED_USERS, USER, USERS } from "./user_operations.ts";
import type { Operation } from "./operation.ts";

/**
 * Every operation. Where several have one command, the first that takes what was
 * given is done.
 */
export const OPERATIONS: readonly Operation[] = [
  POLL,
  POLL_ONCE,
  POLL_NOW,
  RECONCILE,
  RECOVER,
  READ_ORDER,
  ORDERS,
  ORDER_TOTALS,
  EXPORT_ORDERS,
  ORDER,
  EXPLANATION,
  ORDER_AS_OF,
  RELEASE_BY_HAND,
  NOTES,
  TAKE_NOTE,
  LOOK_AT_CHAIN,
  LOOK_AT_CHAINS,
  USERS,
  USER,
  ERASE_USER,
  ERASED_USERS,
  FIND,
  ATTENTION_LIST,
  CLOSE_MONTH,
  MONTH,
  MONTH_FILE,
  MONTH_RECOMPUTED,
  MONTHS,
  CREATE_SESSION,
  EXPECT,
  LEDGER_STATS,
  VERIFY,
  REFOLD,
  PRUNE,
  EXPORT_LEDGER,
  IMPORT_LEDGER,
  BACK_UP,
  RESTORE,
  REPLAY,
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
  TRANSITIONS,
  EVIDENCE,
  STATUS,
  HEALTH,
];
