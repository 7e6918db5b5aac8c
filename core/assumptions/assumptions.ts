/** What an assumption is about; its rows are shown together, in this order. */
const ASSUMPTION_SUBJECTS = [
  "order_fields",
  "order_pages",
  "order_filters",
  "user_fields",
  "user_pages",
  "user_filters",
  "answers",
  "ledger",
  "sessions",
  "test_event",
  "widget",
] as const;

/** What an assumption is about. */
export type AssumptionSubject = typeof ASSUMPTION_SUBJECTS[number];

/**
 * How an assumption can be seen:
 *
 * - `reading`: by reading orders and users, which changes nothing.
 * - `ledger`: by what the ledger has of the service's webhooks and readings.
 * - `session`: by creating sessions that nobody opens.
 * - `wrong_key`: by one request with a key that is wrong.
 * - `test_event`: by the event that the Test button sends.
 * - `failing_delivery`: only by an endpoint that fails, which switches delivery
 *   off.
 * - `widget`: only in the widget, with a session that is opened.
 * - `person`: only by creating users or cards, which is never done to look.
 */
export type SeenBy =
  | "reading"
  | "ledger"
  | "session"
  | "wrong_key"
  | "test_event"
  | "failing_delivery"
  | "widget"
  | "person";

/**
 * What goes wrong where an assumption does not hold:
 *
 * - `release`: an order may be released, or refused, wrongly.
 * - `missed`: orders or users may not be found, or found late.
 * - `left_out`: a field is left out of what is shown, and reported as odd.
 * - `misread`: a value is shown or counted as something else.
 * - `refused`: what the service would take is refused here, or the reverse.
 * - `delivery`: webhooks may be refused, or their end not noticed.
 * - `error`: a failure is named wrongly, or retried without effect.
 */
export type AssumptionRisk =
  | "release"
  | "missed"
  | "left_out"
  | "misread"
  | "refused"
  | "delivery"
  | "error";

/** One assumption about the service. */
export interface AssumptionRow {
  /** What it is about. */
  readonly subject: AssumptionSubject;
  /**
   * `document`: the service's description says so. `silent`: it does not say,
   * or says two things, and this is how we read it; READING.md has these.
   */
  readonly from: "document" | "silent";
  /** How it can be seen. */
  readonly seenBy: SeenBy;
  /** The environment that alone shows it. */
  readonly only?: "production" | "sandbox";
  /** What goes wrong where it does not hold. */
  readonly risk: AssumptionRisk;
  /** The code that rests on it: a name and its file. */
  readonly code: readonly [symbol: string, file: string];
}

/** The code that several rows rest on. */
const READ_ORDER = ["readOrderRow", "core/wire/read_row.ts"] as const;
const READ_USER = ["readUserRow", "core/wire/read_row.ts"] as const;
const READ_TIME = ["readServiceTime", "core/time/service_time.ts"] as const;
const WALK = ["walkRange", "sync/walk/walk_range.ts"] as const;
const WINDOWS = ["filterTime", "sync/walk/windows.ts"] as const;
const BY_IDS = ["requestByIds", "sync/polling/request_by_ids.ts"] as const;
const QUERY = ["checkOrdersQuery", "client/endpoints/orders_api.ts"] as const;
const USERS_QUERY = [
  "checkUsersQuery",
  "client/endpoints/users_api.ts",
] as const;
const SESSION = ["checkSession", "core/rules/session_rules.ts"] as const;
const ERRORS = ["errorOf", "client/http/_error_map.ts"] as const;

type Code = readonly [symbol: string, file: string];

type Row<From, By> = AssumptionRow & {
  readonly from: From;
  readonly seenBy: By;
};

function stated(
  subject: AssumptionSubject,
  risk: AssumptionRisk,
  code: Code,
): Row<"document", "reading">;
function stated<By extends SeenBy>(
  subject: AssumptionSubject,
  risk: AssumptionRisk,
  code: Code,
  seenBy: By,
): Row<"document", By>;
function stated(
  subject: AssumptionSubject,
  risk: AssumptionRisk,
  code: Code,
  seenBy: SeenBy = "reading",
): AssumptionRow {
  return { subject, from: "document", seenBy, risk, code };
}

function silent(
  subject: AssumptionSubject,
  risk: AssumptionRisk,
  code: Code,
): Row<"silent", "reading">;
function silent<By extends SeenBy>(
  subject: AssumptionSubject,
  risk: AssumptionRisk,
  code: Code,
  seenBy: By,
): Row<"silent", By>;
function silent(
  subject: AssumptionSubject,
  risk: AssumptionRisk,
  code: Code,
  seenBy: SeenBy = "reading",
): AssumptionRow {
  return { subject, from: "silent", seenBy, risk, code };
}

const TABLE = {
  // Orders: what a row has
  order_fields_documented: stated("order_fields", "misread", READ_ORDER),
  order_fields_present: stated("order_fields", "left_out", READ_ORDER),
  order_amounts_are_numbers: stated("order_fields", "release", READ_ORDER),
  order_fees_are_numbers: stated("order_fields", "misread", READ_ORDER),
  order_texts_are_texts: stated("order_fields", "left_out", READ_ORDER),
  order_currency_lower_case: stated("order_fields", "misread", [
    "ORDER_FIELDS",
    "core/wire/order_fields.ts",
  ]),
  order_crypto_has_three_parts: stated("order_fields", "release", [
    "readingFacts",
    "ledger/orders/readings.ts",
  ]),
  order_status_listed: stated("order_fields", "release", [
    "normaliseStatus",
    "ledger/machines/order_rank.ts",
  ]),
  order_times_form: stated("order_fields", "missed", READ_TIME),
  order_times_in_utc: stated("order_fields", "release", [
    "latestPlausible",
    "core/time/plausible_time.ts",
  ]),
  order_changed_after_created: stated("order_fields", "release", [
    "resolveOrder",
    "ledger/orders/resolve_order.ts",
  ]),
  order_success_has_transaction: stated("order_fields", "release", [
    "OUTCOME_TABLE",
    "ledger/outcomes/outcome_table.ts",
  ]),
  order_fail_reason_listed: stated("order_fields", "misread", [
    "failReasons",
    "core/assets/fail_reason.ts",
  ]),
  order_payment_type_listed: stated("order_fields", "misread", [
    "PaymentType",
    "core/wire/order.ts",
  ]),
  order_card_brand_upper_case: stated("order_fields", "misread", READ_ORDER),
  fiat_decimals: silent("order_fields", "refused", [
    "FIAT_DECIMALS",
    "core/rules/fiat_amount.ts",
  ]),
  fee_percent_is_share: silent("order_fields", "misread", [
    "ORDER_FIELDS",
    "core/wire/order_fields.ts",
  ]),

  // Orders: the list and its pages
  orders_answer_form: stated("order_pages", "missed", [
    "pageOf",
    "client/endpoints/page_of.ts",
  ]),
  orders_current_form: stated("order_pages", "missed", [
    "cursorPass",
    "client/endpoints/passes.ts",
  ]),
  orders_limit_default: stated("order_pages", "missed", QUERY),
  orders_limit_most: stated("order_pages", "missed", WALK),
  orders_limit_zero: stated("order_pages", "refused", QUERY),
  orders_limit_beyond: stated("order_pages", "refused", QUERY),
  orders_newest_first: stated("order_pages", "missed", WALK),
  orders_oldest_first: stated("order_pages", "missed", WALK),
  orders_start_exclusive: stated("order_pages", "missed", WINDOWS),
  orders_end_inclusive: stated("order_pages", "missed", WINDOWS),
  orders_fraction_of_second: stated("order_pages", "refused", WINDOWS),
  orders_cursor_goes_on: stated("order_pages", "missed", WALK),
  orders_cursor_ends: silent("order_pages", "missed", [
    "cursorPass",
    "client/endpoints/passes.ts",
  ]),
  orders_offset: stated("order_pages", "missed", [
    "offsetPass",
    "client/endpoints/passes.ts",
  ]),
  orders_total: stated("order_pages", "missed", [
    "assessWalk",
    "client/endpoints/assess_walk.ts",
  ]),

  // Orders: filters
  orders_by_order_id: stated("order_filters", "release", BY_IDS),
  orders_by_click_id: stated("order_filters", "missed", BY_IDS),
  orders_by_external_id: stated("order_filters", "missed", BY_IDS),
  orders_by_several_kinds: stated("order_filters", "missed", BY_IDS),
  orders_by_twenty_ids: stated("order_filters", "missed", BY_IDS),
  orders_by_unknown_id: silent("order_filters", "release", BY_IDS),
  orders_by_status: stated("order_filters", "missed", QUERY),
  orders_by_commodity: stated("order_filters", "missed", QUERY),
  orders_by_user: stated("order_filters", "missed", QUERY),
  orders_by_card: stated("order_filters", "missed", QUERY),
  orders_by_transaction: stated("order_filters", "missed", QUERY),
  orders_by_fail_reason: stated("order_filters", "missed", QUERY),
  orders_by_payment_type: stated("order_filters", "missed", QUERY),

  // Users: what a row has
  user_fields_documented: stated("user_fields", "misread", READ_USER),
  user_fields_present: stated("user_fields", "left_out", READ_USER),
  user_texts_are_texts: stated("user_fields", "left_out", READ_USER),
  user_banned_is_boolean: stated("user_fields", "left_out", READ_USER),
  user_limits_are_texts: stated("user_fields", "left_out", READ_USER),
  user_times_form: stated("user_fields", "missed", READ_TIME),
  user_phone_masked: stated("user_fields", "misread", READ_USER),
  user_countries_form: stated("user_fields", "misread", [
    "checkUsersQuery",
    "client/endpoints/users_api.ts",
  ]),
  user_kyc_listed: stated("user_fields", "misread", [
    "VerificationStatus",
    "core/wire/user.ts",
  ]),
  user_payment_methods_form: stated("user_fields", "left_out", READ_USER),

  // Users: the list and its pages
  users_answer_form: stated("user_pages", "missed", [
    "pageOf",
    "client/endpoints/page_of.ts",
  ]),
  users_no_cursor: stated("user_pages", "missed", [
    "windowPass",
    "client/endpoints/passes.ts",
  ]),
  users_limit_most: stated("user_pages", "missed", WALK),
  users_limit_beyond: stated("user_pages", "refused", USERS_QUERY),
  users_newest_first: stated("user_pages", "missed", WALK),
  users_oldest_first: stated("user_pages", "missed", WALK),
  users_from_exclusive: stated("user_pages", "missed", WINDOWS),
  users_to_inclusive: stated("user_pages", "missed", WINDOWS),
  users_offset: stated("user_pages", "missed", [
    "windowPass",
    "client/endpoints/passes.ts",
  ]),
  users_total: stated("user_pages", "missed", [
    "assessWalk",
    "client/endpoints/assess_walk.ts",
  ]),

  // Users: filters
  users_by_ids: stated("user_filters", "missed", BY_IDS),
  users_by_unknown_id: silent("user_filters", "missed", BY_IDS),
  users_by_lkyc_status: stated("user_filters", "missed", USERS_QUERY),
  users_by_fkyc_status: stated("user_filters", "missed", USERS_QUERY),
  users_by_phone_country: stated("user_filters", "missed", USERS_QUERY),
  users_by_kyc_country: stated("user_filters", "missed", USERS_QUERY),

  // Answers as such
  answers_are_json: stated("answers", "error", [
    "sendOnce",
    "client/http/transport.ts",
  ]),
  service_clock: silent("answers", "release", [
    "plausibleNowMs",
    "core/time/plausible_time.ts",
  ]),
  wrong_parameter_refused: silent("answers", "error", [
    "requestEach",
    "sync/polling/request_each.ts",
  ]),
  wrong_key_refused: stated("answers", "error", ERRORS, "wrong_key"),

  // What the ledger has of webhooks and readings
  amounts_as_asked: stated("ledger", "release", [
    "matchExpectations",
    "ledger/outcomes/match.ts",
  ], "ledger"),
  click_id_as_sent: stated("ledger", "release", [
    "matchExpectations",
    "ledger/outcomes/match.ts",
  ], "ledger"),
  claims_shown_in_ten_minutes: silent("ledger", "release", [
    "contradictions",
    "sync/recording/contradiction.ts",
  ], "ledger"),
  final_status_stands: silent("ledger", "release", [
    "isFinal",
    "ledger/machines/order_rank.ts",
  ], "ledger"),
  transfer_started_is_pending: silent("ledger", "misread", [
    "orderMachine",
    "ledger/machines/order_machine.ts",
  ], "ledger"),
  cancelled_spelling: silent("ledger", "misread", [
    "webhookType",
    "core/webhook_event/event_types.ts",
  ], "ledger"),
  event_flavour: silent("ledger", "misread", [
    "flavourOf",
    "core/webhook_event/_read_events.ts",
  ], "ledger"),

  // Sessions
  session_simple: stated("sessions", "refused", SESSION, "session"),
  session_restricted: stated("sessions", "refused", SESSION, "session"),
  session_flow_required: stated("sessions", "refused", SESSION, "session"),
  session_wallet_and_amount: stated("sessions", "refused", SESSION, "session"),
  session_currency_with_amount: stated(
    "sessions",
    "refused",
    SESSION,
    "session",
  ),
  session_minimum: stated("sessions", "refused", [
    "minimumAmount",
    "core/rules/fiat_amount.ts",
  ], "session"),
  session_wallet_checked: stated("sessions", "refused", [
    "isWalletAddress",
    "core/rules/wallet_address.ts",
  ], "session"),
  session_unlisted_pair: stated("sessions", "refused", SESSION, "session"),
  session_no_euro_in_sandbox: {
    ...stated("sessions", "refused", SESSION, "session"),
    only: "sandbox",
  },
  session_btc_by_default: {
    ...silent("sessions", "refused", [
      "defaultCommodity",
      "core/rules/fiat_amount.ts",
    ], "session"),
    only: "sandbox",
  },
  session_network_by_default: silent("sessions", "refused", [
    "missing_network",
    "core/rules/session_rules.ts",
  ], "session"),
  session_btc_minimum: {
    ...silent("sessions", "refused", [
      "minimumAmount",
      "core/rules/fiat_amount.ts",
    ], "session"),
    only: "production",
  },

  // The Test button
  test_event_form: stated("test_event", "delivery", [
    "testEvent",
    "core/webhook_event/_read_events.ts",
  ], "test_event"),
  test_event_is_json: stated("test_event", "delivery", [
    "bodyValue",
    "core/webhook_event/classify_body.ts",
  ], "test_event"),
  no_signature: silent("test_event", "delivery", [
    "RequestGate",
    "webhooks/endpoint/request_gate.ts",
  ], "test_event"),

  // What only the widget, a failing endpoint or a person shows
  delivery_switched_off: silent("widget", "delivery", [
    "retryCountdown",
    "sync/watchdog/watchdog_rule.ts",
  ], "failing_delivery"),
  session_lapses: stated("widget", "refused", [
    "sessionValidityMs",
    "core/rules/session_validity.ts",
  ], "widget"),
  widget_extra: silent("widget", "refused", [
    "extra",
    "widget/options/_check_options.ts",
  ], "widget"),
  user_state_outside_usa: silent("widget", "refused", [
    "isRequired",
    "core/rules/user_rules.ts",
  ], "person"),
  card_city_with_spaces: silent("widget", "refused", [
    "city",
    "core/rules/card_rules.ts",
  ], "person"),
} as const satisfies Readonly<Record<string, AssumptionRow>>;

/** The name of an assumption. */
export type AssumptionName = keyof typeof TABLE;

/**
 * Every assumption about the service that can be observed from outside, and
 * every place where its documentation is silent: one row each. `rampkit
 * conform` checks each row, READING.md is made from those that the
 * documentation does not settle, the sandbox can deviate in each observable
 * one, and each row names the code that depends on it.
 */
export const ASSUMPTIONS: Readonly<Record<AssumptionName, AssumptionRow>> =
  TABLE;

/** The names of all, in the order in which they are shown. */
export const ASSUMPTION_NAMES = Object.keys(TABLE) as readonly AssumptionName[];

/** The assumptions that are seen in one of these ways. */
export type AssumptionsSeenBy<By extends SeenBy> = {
  [Name in AssumptionName]: (typeof TABLE)[Name]["seenBy"] extends By ? Name
    : never;
}[AssumptionName];

/** The assumptions that can be observed. */
export type ObservableAssumption = AssumptionsSeenBy<
  "reading" | "ledger" | "session" | "wrong_key" | "test_event"
>;

/** The places in which the description of the service is silent. */
export type SilentAssumption = {
  [Name in AssumptionName]: (typeof TABLE)[Name]["from"] extends "silent" ? Name
    : never;
}[AssumptionName];
