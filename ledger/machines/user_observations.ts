import type { Machine } from "./machine.ts";

/** What the machines of a user make of facts that are no webhooks. */
export const USER_OBSERVATIONS: Machine<
  string,
  string,
  string
>["observations"] = {
  user_snapshot: "reads",
  order_snapshot: null,
  order_absent: null,
  order_contradicted: null,
  session_created: null,
  order_expected: null,
  delivery_unanswered: null,
  order_released: null,
  chain_reading: null,
  case_changed: null,
  witness_required: null,
  order_redacted: null,
  month_closed: null,
};
