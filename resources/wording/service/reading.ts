import type { SilentAssumption } from "../../../core/assumptions/assumptions.ts";

/** The words for a place in which the description of the service is silent. */
export interface ReadingWords {
  /** The place. */
  readonly title: string;
  /** What it does not say, or says twice. */
  readonly silence: string;
  /** What we assume. */
  readonly taken: string;
  /** Why. */
  readonly why: string;
  /** What would show that we are wrong. */
  readonly ifWrong: string;
}

/** Every place in which the description is silent. */
export const READING_WORDS: Readonly<Record<SilentAssumption, ReadingWords>> = {
  fiat_decimals: {
    title: "Decimals of a fiat amount",
    silence: "No number of decimals is stated for `currency_amount`.",
    taken: "two, in sessions and in the widget alike.",
    why: "no listed currency has more, and an amount that is rounded on the " +
      "way is no more what the order is compared with.",
    ifWrong: "an amount of three decimals is refused here.",
  },
  fee_percent_is_share: {
    title: "A percentage of fees that is a share",
    silence: "`partner_fee_percent` and `service_fee_percent` are called " +
      "percentages; an old sample shows 0.01 for about one per cent.",
    taken: "a share: 0.01 is one per cent. It is shown as it is stated.",
    why: "fees in months and exports are the amounts in USD, and never " +
      "computed from it.",
    ifWrong: "the share of an order is a hundred times its fee by its amount.",
  },
  orders_cursor_ends: {
    title: "The end of a list of orders",
    silence: "What `next_cursor_id` is on the last page is not shown.",
    taken: "empty or missing, at the end and nowhere else.",
    why: "a walk that ends early would miss orders, so a walk that is to be " +
      "proven complete also goes the other way and counts.",
    ifWrong: "`rampkit reconcile` is never proven complete, or walks end " +
      "with a cursor that leads nowhere.",
  },
  orders_by_unknown_id: {
    title: "An order that is not there",
    silence: "The answer to a search for an id that nobody has is not shown, " +
      "and neither are the errors of both lists.",
    taken: "200 with an empty list. An order that a webhook named and the " +
      "list does not show is absent, and is asked for again.",
    why: "a forged webhook names orders that do not exist: their search must " +
      "not look like a failure of the service.",
    ifWrong: "`rampkit doctor` lists refused ids.",
  },
  users_by_unknown_id: {
    title: "A user that is not there",
    silence: "The same holds for `user_ids`.",
    taken: "200 with an empty list.",
    why: "webhooks name users as well.",
    ifWrong: "`rampkit doctor` lists refused ids.",
  },
  service_clock: {
    title: "The service's clock",
    silence: "Orders have times without a zone, said to be UTC. Which clock " +
      "they go by, and how far it may be from the `Date` of an answer, is " +
      "not said.",
    taken:
      "`Date` is the time of a reading, and both are one clock. A `Date` " +
      "later than our own clock counts as our own, and one more than a day " +
      "back as none.",
    why: "of two readings the later one counts, so that a wrong clock could " +
      "let an old one win.",
    ifWrong:
      "`rampkit doctor` says that the clocks are apart, or orders have " +
      "the anomaly `time_in_future`.",
  },
  wrong_parameter_refused: {
    title: "A parameter that the lists do not take",
    silence: "Errors of the orders and users endpoints are not shown.",
    taken: "any 4xx, with or without a `message`. A search for many ids that " +
      "is refused is split until the refused id stands alone.",
    why: "one odd id in a webhook must not stop the others from being " +
      "confirmed.",
    ifWrong: "`rampkit poll --once` names the failure and the status.",
  },
  claims_shown_in_ten_minutes: {
    title: "Ten minutes until a claim is contradicted",
    silence: "How long the partner API may lag behind a webhook is not shown.",
    taken: "after ten minutes in which the service does not show what a " +
      "webhook claims, the claim no longer counts.",
    why: "a forged success must not look like one for hours, and a true one " +
      "is confirmed by the next reading whenever it comes.",
    ifWrong: "orders have the anomaly `contradicted`, and are confirmed later.",
  },
  final_status_stands: {
    title: "failed that later succeeds",
    silence: "Which status may follow which is not shown.",
    taken: "`success`, `failed` and `cancelled` as final. A later reading " +
      "with another status counts all the same, raises `final_changed`, and " +
      "stops a release.",
    why: "only the service's own later word may change its word, and a " +
      "person has to look when it does.",
    ifWrong: "`rampkit attention final_changed` lists many orders.",
  },
  transfer_started_is_pending: {
    title: 'transfer_started, and pending that means "not yet sent"',
    silence: "The event comes after a confirmation on the chain, and carries " +
      "a transaction; the status that fits it, pending, is described as not " +
      "yet sent.",
    taken: "it claims `pending`, and sets `transferSeen`.",
    why: "the order is not a success before the service says so, and " +
      "`pending` is the highest status below.",
    ifWrong: "`rampkit orders explain ID` shows readings of another status " +
      "after each such event.",
  },
  cancelled_spelling: {
    title: "order_cancelled, and order_canceled",
    silence: "The description has two l, integrators have seen one.",
    taken: "both as the same event; likewise `new_card_added` as " +
      "`card_added`, and the status `canceled` as `cancelled`.",
    why: "a cancelled order that is not understood is a loss.",
    ifWrong: "`rampkit deliveries list` shows the type as it was sent.",
  },
  event_flavour: {
    title: "A flavour with both a session and partner_data, or with neither",
    silence: "Fiat OnRamp events have `hpp_session_id`, NFT Checkout orders " +
      "`partner_data`. It does not say what an order event with both, or " +
      "with neither, is.",
    taken: "neither flavour; `flavour` is null.",
    why: "a guess would look like the service's word. Nothing else depends " +
      "on it.",
    ifWrong: "`rampkit webhook parse` shows null for events whose flavour " +
      "you know.",
  },
  session_btc_by_default: {
    title: "BTC as the default, where the sandbox does not sell it",
    silence: "Without `commodity` a session is for BTC; the sandbox does not " +
      "list BTC.",
    taken: "the request goes out as it is, and a warning names the default.",
    why: "asset tables change often, and the session may still be of use.",
    ifWrong: "the service answers 200 and the widget shows another asset, or " +
      "it refuses the request.",
  },
  session_network_by_default: {
    title: "network that defaults to bitcoin",
    silence: "`commodity` without `network` would mean that asset on " +
      "bitcoin, which no table lists for anything but BTC.",
    taken: "a fault; `network` has to be named beside `commodity`.",
    why: "the session would fail later, in the customer's hands.",
    ifWrong: "pass `network` all the same; it is never refused by the " +
      "service.",
  },
  session_btc_minimum: {
    title: "Minimum 30 for BTC, in which currency",
    silence: "The minimum of 1 is stated in USD, that of 30 for BTC without " +
      "a currency.",
    taken: "30 of whatever currency is asked for; for other assets 1 USD, " +
      "and no minimum in EUR.",
    why: "30 EUR is above 30 USD, so that nothing is let through that is too " +
      "small.",
    ifWrong: "a session of BTC below 30 in your currency works in the " +
      "dashboard and is refused here.",
  },
  no_signature: {
    title: "No signature",
    silence: "It shows no way to verify that a webhook came from the service.",
    taken: "a webhook is a claim, and the partner API confirms it. The " +
      "address holds a secret path; `serve --allow` names the service's " +
      "addresses.",
    why: "integrators who invented a signature answered 401 to everything, " +
      "and had delivery switched off.",
    ifWrong: "the service's dashboard or support names a signing secret.",
  },
  delivery_switched_off: {
    title: "One failed delivery, or five, switch delivery off",
    silence: "It says both: that any failed delivery leads to automatic " +
      "disabling, and that five retries come first, after 5 minutes, 1, 2, 4 " +
      "and 8 hours. It does not say whether those count from the first " +
      "failure or each from the one before.",
    taken: "any of the three. Alarms count down to both ends, 8 hours and 15 " +
      "hours 5 minutes after the first failure, and say that delivery may be " +
      "off already.",
    why: "an alarm that comes too early costs a look at the dashboard.",
    ifWrong: "`rampkit doctor` names orders that moved without a webhook. " +
      "Press Test in the dashboard's webhook page: when nothing arrives, " +
      "delivery is off.",
  },
  widget_extra: {
    title: "extra, a string or an object",
    silence: "The table of widget options calls it a string, the official " +
      "SDK takes an object.",
    taken: "an object, as the SDK's types have it.",
    why: "the SDK is what sends it.",
    ifWrong: "the widget does not offer the wallets that were passed.",
  },
  user_state_outside_usa: {
    title: "state_of_residence of people outside the USA",
    silence: "It is marked as required, and its value is a state of the USA.",
    taken: "required for USA alone.",
    why: "nobody else can have one.",
    ifWrong: "the service answers 400 to users of other countries.",
  },
  card_city_with_spaces: {
    title: "A city with spaces",
    silence: "A card's street may have spaces; of its city it only says " +
      '"no special characters".',
    taken: "spaces are allowed in both.",
    why: "many cities have one.",
    ifWrong: 'the service answers 121, "invalid billing address information".',
  },
};
