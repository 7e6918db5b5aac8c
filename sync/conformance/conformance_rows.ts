import type { ObservableAssumption } from "../../core/assumptions/assumptions.ts";
import type { ConformanceRow } from "./observing/row.ts";
import { ANSWER_ROWS } from "./rows/answers.ts";
import { ORDER_FIELD_ROWS } from "./rows/order_fields.ts";
import { ORDER_FILTER_ROWS, ORDER_PAGE_ROWS } from "./rows/order_lists.ts";
import { SESSION_ROWS } from "./rows/sessions.ts";
import {
  USER_FIELD_ROWS,
  USER_FILTER_ROWS,
  USER_PAGE_ROWS,
} from "./rows/users.ts";
import { LEDGER_ROWS, TEST_EVENT_ROWS } from "./rows/webhooks.ts";

/** How each assumption that can be looked at is looked at, and judged. */
export const CONFORMANCE_ROWS: Readonly<
  Record<ObservableAssumption, ConformanceRow>
> = {
  ...ORDER_FIELD_ROWS,
  ...ORDER_PAGE_ROWS,
  ...ORDER_FILTER_ROWS,
  ...USER_FIELD_ROWS,
  ...USER_PAGE_ROWS,
  ...USER_FILTER_ROWS,
  ...LEDGER_ROWS,
  ...SESSION_ROWS,
  ...TEST_EVENT_ROWS,
  ...ANSWER_ROWS,
};
