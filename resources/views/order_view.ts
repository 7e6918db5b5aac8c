import { describeFailReason } from "../../core/assets/fail_reason.ts";
import {
  fieldsWith,
  ORDER_FIELDS,
  type OrderFieldName,
} from "../../core/wire/fields.ts";
import { groupedAmount, span, withDecimals } from "../wording/phrases.ts";
import type {
  Anomaly,
  LedgerTypes,
  OrderReason,
  OrderState,
  OutcomeCode,
  RecordedRelease,
  Trust,
} from "../../ledger/mod.ts";
import {
  type OrderInContext,
  type Outcome,
  outcomeNow,
} from "../../ledger/for_resources.ts";
import { declinedMessage, OUTCOME_WORDS } from "../wording/outcome.ts";
import {
  ARRIVED,
  BY_HAND,
  describeHandRelease,
  describeWitness,
  NOT_SENT,
  RELEASE,
  RELEASE_REASON,
} from "../wording/release.ts";
import {
  ageText,
  counted,
  drawTable,
  type Fact,
  labelled,
  minuteText,
  operands,
  shellWord,
  wrap,
} from "./text.ts";
import type { Freshness } from "../../sync/mod.ts";
import {
  describeAnomaly,
  describeFreshness,
  describeOrderReason,
} from "../wording/state.ts";
import { printable } from "../../core/text.ts";
import type { OrderTotal } from "../../ledger/types.ts";

/** An object with the fields of an order: its state, or its `--json`. */
type WithFields =
  & Pick<OrderState, "fees" | "smartContract">
  & LedgerTypes.OrderDetails
  & LedgerTypes.OrderFacts;

/** The value of a field of an order, as its state holds it. */
export function orderValue(
  order: WithFields,
  field: OrderFieldName,
): string | null {
  switch (field) {
    case "partnerFee":
    case "partnerFeePercent":
    case "serviceFee":
    case "serviceFeePercent":
      return order.fees[field];
    case "scInputData":
      return order.smartContract.inputData;
    default:
      return order[field];
  }
}

/** A field of an order for people. */
interface ShownField {
  /** Name of the field. */
  readonly name: OrderFieldName;
  /** Its title. */
  readonly label: string;
  /** Whether it names something: an identifier, an address, a hash. */
  readonly isName: boolean;
  /** Its value, with its unit or meaning; null where there is none. */
  readonly text: string | null;
}

/** The fields of an order for people, in the order of the table of fields. */
function shownFields(order: WithFields): readonly ShownField[] {
  return fieldsWith("label").map((name) => {
    const { label, shape, same } = { same: null, ...ORDER_FIELDS[name] };
    return {
      name,
      label,
      isName: shape === "identifier" || same === "address" ||
        same === "transaction",
      text: shownText(order, name),
    };
  });
}

/** One field of an order for people, with its unit or meaning. */
function shownText(
  order: WithFields,
  field: OrderFieldName,
): string | null {
  switch (field) {
    case "currencyAmount":
      return paidText(order.currencyAmount, order.currency);
    case "cryptoAmount":
      return amountText(order.cryptoAmount, order.commodity);
    case "failReason": {
      const meaning = failMeaning(order);
      return meaning === null
        ? order.failReason
        : `${order.failReason}: ${meaning}`;
    }
    default:
      return orderValue(order, field);
  }
}

/** An amount and its unit; empty where there is none. */
export function amountText(value: string | null, unit: string | null): string {
  return value === null ? "" : [value, unit].filter(Boolean).join(" ");
}

/** An amount of money with all its decimals; empty where there is none. */
export function paidText(
  value: string | null,
  currency: string | null,
): string {
  return amountText(value && withDecimals(value, currency), currency);
}

/** What the reason of a failure means, where it is a documented code. */
function failMeaning({ failReason }: WithFields): string | null {
  return failReason === null ? null : describeFailReason(failReason);
}

/** An order, and its outcome now. */
interface Decided {
  /** The order. */
  readonly order: OrderInContext;
  /** Its outcome. */
  readonly outcome: Outcome;
}

/** The next step for staff about an order: the row says it. */
export function nextStep({ order, outcome }: Decided): string {
  const dealt = handWords({ order, outcome });
  if (dealt !== null) return dealt.next;
  const { next: usual, nextOf } = OUTCOME_WORDS[outcome.code];
  const next = nextOf?.(order) ?? usual;
  const key = order.context?.withheld ?? null;
  if (key === null) return next;
  const fire = `rampkit subscriptions fire ${operands(key)}`;
  return outcome.release === "yes"
    ? NOT_SENT.yes(fire, `rampkit release ${shellWord(order.orderId)}`)
    : `${next} ${NOT_SENT.taken(fire)}`;
}

/** What the customer of an order may be told. */
export function customerMessage(decided: Decided): string {
  const dealt = handWords(decided);
  if (dealt !== null) return dealt.customer;
  const { order, outcome: { code } } = decided;
  const { customer } = OUTCOME_WORDS[code];
  // Only a final look says that it has arrived, and only where all of it has.
  if (
    code === "session_matched" && order.facts.chain === "agrees" &&
    order.witness?.verdict === "delivered"
  ) return ARRIVED;
  // Of a declined payment its code has words of its own.
  return code === "declined"
    ? declinedMessage(order.confirmed?.failReason ?? "") ?? customer
    : customer;
}

/**
 * The words for what a person did, where nothing else is left to do. As far as
 * is known, nobody has paid for what was delivered of an order that did not
 * succeed.
 */
function handWords({ order, outcome }: Decided) {
  const { byHand } = order;
  if (byHand === null || outcome.attention.length > 0) return null;
  return byHand.outcome === "delivered" && order.facts.shown !== "success"
    ? null
    : BY_HAND[byHand.outcome];
}

/** What a sentence was made of, and the sentence. */
export type Worded<Coded> = Coded & { readonly message: string };

/** The state of an order, and the sentences made of its codes. */
export interface OrderJson extends Omit<OrderState, "outcome"> {
  /** Its outcome, with the words for staff and customer. */
  readonly outcome: {
    /** Code of the row that applies. */
    readonly code: OutcomeCode;
    /** The one thing to know first. */
    readonly message: string;
    /** The next step for staff. */
    readonly next: string;
    /** What the customer may be told. */
    readonly customer: string;
  };
  readonly reason: Worded<OrderReason>;
  /** Meaning of `failReason` where it is a documented code. */
  readonly failMeaning: string | null;
  /** What the chain shows of its transaction; null where nobody looked. */
  readonly witness: Worded<WitnessState> | null;
  readonly anomalies: readonly Worded<Anomaly>[];
}

type WitnessState = NonNullable<OrderState["witness"]>;

/**
 * An order as `--json` prints it: the state in words, without activity.
 *
 * @param nowMs The time, in milliseconds since the epoch: the outcome is as of
 * then.
 */
export function orderJson(
  order: OrderInContext & { readonly activity?: unknown },
  nowMs: number,
): OrderJson {
  const { activity: _activity, context: _context, ...state } = order;
  const outcome = outcomeNow(order, nowMs);
  const { code, release, reason, booked, attention } = outcome;
  return {
    ...state,
    outcome: {
      code,
      message: OUTCOME_WORDS[code].headline(state),
      next: nextStep({ order, outcome }),
      customer: customerMessage({ order, outcome }),
    },
    release,
    releaseReason: reason,
    booked,
    attention,
    reason: {
      ...state.reason,
      message: describeOrderReason(state.reason),
    },
    failMeaning: failMeaning(state),
    witness: state.witness === null
      ? null
      : { ...state.witness, message: describeWitness(state) ?? "" },
    anomalies: anomaliesJson(state.anomalies),
  };
}

/** Anomalies as `--json` prints them. */
export function anomaliesJson(
  anomalies: readonly Anomaly[],
): readonly Worded<Anomaly>[] {
  return anomalies.map((anomaly) => ({
    ...anomaly,
    message: describeAnomaly(anomaly),
  }));
}

/** Orders as a table, one a line. */
export function orderTable(
  orders: readonly OrderJson[],
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "Order", whole: true },
      { title: "Reference", whole: true, spare: 1 },
      { title: "Status", whole: true },
      { title: "Trust", whole: true, spare: 2 },
      { title: "Amount", align: "right", whole: true, spare: 3 },
      { title: "Asset", align: "right", whole: true, spare: 6 },
      { title: "Created (UTC)", whole: true, spare: 5 },
      { title: "Anomalies", spare: 4 },
    ],
    orders.map((order) => [
      order.orderId,
      order.expected?.reference ?? order.externalOrderId ?? "",
      isSaid(order) ? order.status : "",
      isSaid(order) ? order.trust : "",
      shownText(order, "currencyAmount") ?? "",
      shownText(order, "cryptoAmount") ?? "",
      minuteText(order.createdAt),
      kinds(order),
    ]),
    columns,
  );
}

/** What a receiver, of your program or of another one, was told of an order. */
export interface ToldJson {
  /** Name of its subscription. */
  readonly name: string;
  /** Where it is forwarded to; null for a handler of your own program. */
  readonly url: string | null;
  /**
   * - `told`: it took what it subscribed to.
   * - `behind`: it is behind, and may not have been told yet.
   * - `retrying`: it failed, and is told again at `nextAt`.
   * - `waiting`: what comes before it has to be taken first.
   * - `dead`: it failed in every attempt.
   * - `off`: it is switched off.
   */
  readonly state: "told" | "behind" | "retrying" | "waiting" | "dead" | "off";
  /** The first transition that it has not taken, else the last one. */
  readonly transition: string;
  /** Attempts that failed. */
  readonly attempts: number;
  /** What it answered, or what the handler threw; null where it did not fail. */
  readonly answer: string | null;
  /** When it is told again, UTC ISO 8601; null for at once or never. */
  readonly nextAt: string | null;
}

function toldText(
  { name, url, state, transition, attempts, answer, nextAt }: ToldJson,
  nowMs: number,
): string {
  const who = url === null ? `handler ${name}` : URL.parse(url)?.host ?? url;
  const failed = url === null ? `failed: ${answer}` : `${answer}`;
  const again = nextAt === null || Date.parse(nextAt) <= nowMs
    ? "again now"
    : `again in ${span(Date.parse(nextAt) - nowMs)}`;
  switch (state) {
    case "told":
      return `${who} was told, last ${transition}`;
    case "behind":
      return `${who} is behind: it may not know ${transition} yet`;
    case "waiting":
      return `${who} does not know ${transition} yet: an earlier one comes first`;
    case "retrying":
      return `${who} ${failed} to ${transition}, ${again} (${
        counted(attempts, "attempt")
      })`;
    case "dead":
      return `${who} ${failed} to ${transition}, given up after ${
        counted(attempts, "attempt")
      }: rampkit subscriptions retry ${operands(name)}`;
    case "off":
      return `${who} is switched off: it may not know ${transition}`;
  }
}

/** Whether a customer has paid for the same thing twice. */
export interface PaidTwice {
  /**
   * - `yes`: another order was paid for the same purchase.
   * - `perhaps`: the same user paid the same amount within a day.
   * - `no`: neither is known.
   */
  readonly answer: "yes" | "perhaps" | "no";
  /** The other orders, at most five. */
  readonly orders: readonly string[];
}

/** What is known of an order besides its state; absent when unknown. */
interface OrderAside {
  /** How fresh it is. */
  readonly freshness?: Freshness;
  /** What a person did about it. */
  readonly releasedByHand?: RecordedRelease | null;
  /** Another order that holds the purchase which it waits for. */
  readonly heldBy?: string | null;
  /** Whether another order paid for the same thing. */
  readonly paidTwice?: PaidTwice | null;
  /** What each receiver was told of it. */
  readonly told?: readonly ToldJson[];
}

/** A fact of an order for people. */
export interface OrderFact extends Fact {
  /** What it is of: a field, or what follows from several. */
  readonly name: string;
  /** Whether it is decided, or what the order's own fields say. */
  readonly part: "state" | "known";
}

/**
 * The facts of an order for people, in their order: the outcome, then
 * everything that is known of it. Lines and pages show them.
 *
 * @param nowMs The time that ages count to, in milliseconds since the epoch.
 * @param aside What is known beside its state.
 */
export function orderFacts(
  order: OrderJson,
  nowMs: number,
  aside: OrderAside = {},
): readonly OrderFact[] {
  const { freshness, releasedByHand: hand, heldBy = null, told = [] } = aside;
  const { answer = "no", orders = [] } = aside.paidTwice ?? {};
  const { release, releaseReason: reason, expected, outcome } = order;
  const state = (
    name: string,
    label: string,
    text: string | null,
    form: Fact["form"] = "sentence",
  ): OrderFact => ({ name, label, text, form, part: "state" });
  const known = (
    name: string,
    label: string,
    text: string | null,
    form: Fact["form"] = "value",
  ): OrderFact => ({ name, label, text, form, part: "known" });
  return [
    state(
      "release",
      "Release",
      `${release}: ${RELEASE[release]} (${RELEASE_REASON[reason]})`,
    ),
    state("byHand", "By hand", hand ? describeHandRelease(hand) : null),
    state("next", "Next", outcome.next, "advice"),
    ...told.map((one) => state("told", "Your shop", toldText(one, nowMs))),
    state("heldBy", "Held by", heldBy, "orders"),
    state(
      "paidTwice",
      "Paid twice",
      answer === "no" ? null : `${answer}, by ${orders.join(", ")}` +
        (answer === "yes" ? "" : ": the same user, the same amount"),
    ),
    state("witness", "Chain", order.witness?.message ?? null),
    state("attention", "Waits for", order.attention.join(", ")),
    state("age", "Age", ageText(order, nowMs)),
    state(
      "freshness",
      "Fresh",
      freshness ? describeFreshness(freshness, nowMs) : null,
    ),
    state("orderId", "Order", order.orderId, "name"),
    state("status", "Status", statusText(order)),
    state("reason", "Because", order.reason.message),
    ...shownFields(order).map(({ name, label, isName, text }) =>
      known(
        name,
        label,
        text,
        name === "userId" ? "user" : isName ? "name" : "value",
      )
    ),
    known("contract", "Contract", order.smartContract.address, "name"),
    known("createdAt", "Created", order.createdAt, "time"),
    known("changedAt", "Changed", order.changedAt, "time"),
    known("reference", "Your reference", expected?.reference ?? null, "name"),
    known("expected", "Asked for", asked(order)),
    known("snapshots", "Service said", statuses(order, "snapshot")),
    known("webhooks", "Webhooks said", statuses(order, "webhook")),
  ];
}

/**
 * One order in full, for people: lines of text that fit the terminal. The
 * outcome is first, then what follows from it.
 *
 * @param nowMs The time that ages count to, in milliseconds since the epoch.
 * @param aside What is known beside its state.
 */
export function orderLines(
  order: OrderJson,
  columns: number | null,
  nowMs: number,
  aside: OrderAside = {},
): string[] {
  return detailLines(
    order.outcome.message,
    orderFacts(order, nowMs, aside),
    order.anomalies,
    columns,
  );
}

/** One order or user in full: what is true first, then facts and anomalies. */
export function detailLines(
  headline: string,
  facts: readonly Fact[],
  anomalies: readonly Worded<Anomaly>[],
  columns: number | null,
): string[] {
  return [
    wrap(printable(headline), columns, 0),
    "",
    ...labelled(facts.map(({ label, text }) => [label, text]), columns),
    ...anomalyLines(anomalies, columns),
  ];
}

function anomalyLines(
  anomalies: readonly Worded<Anomaly>[],
  columns: number | null,
): string[] {
  if (anomalies.length === 0) return [];
  return [
    "",
    "Anomalies:",
    ...anomalies.map((anomaly) =>
      wrap(
        `  ${anomaly.kind}: ${printable(anomaly.message)}`,
        columns,
        4,
      )
    ),
  ];
}

function kinds(order: OrderJson): string {
  return [...new Set(order.anomalies.map(({ kind }) => kind))].join(", ");
}

/** Whether a status of the order is stated, and still counts. */
function isSaid({ claimed, confirmed }: OrderJson): boolean {
  return claimed !== null || confirmed !== null;
}

/** The status and its trust; some orders have no stated status. */
function statusText(order: OrderJson): string {
  if (isSaid(order)) return `${order.status} (${order.trust})`;
  return order.anomalies.some(({ kind }) => kind === "absent")
    ? "none: the service does not know the order"
    : "none: nothing that counts says one";
}

function asked(order: OrderJson): string | null {
  const { expected } = order;
  if (expected === null) return null;
  return [
    paidText(expected.currencyAmount, expected.currency),
    amountText(expected.commodityAmount, expected.commodity),
    expected.sessionId === null
      ? `without a session (${order.facts.match})`
      : `session ${expected.sessionId} (${order.facts.match})`,
  ].filter(Boolean).join(", ");
}

function statuses(order: OrderJson, from: "webhook" | "snapshot"): string {
  return order.history.filter(({ source }) => source === from)
    .map(({ status }) => status).join(", ");
}

/** How many orders some filters choose, and the exact sums of their amounts. */
export interface OrderTotalsJson {
  /** How many orders there are. */
  readonly orders: number;
  /** The same by currency and trust, confirmed orders before claimed ones. */
  readonly totals: readonly OrderTotal[];
}

/** A total in words: the sum, and what it is the sum of. */
interface TotalText {
  /** The amount with its currency, or that none is known. */
  readonly sum: string;
  /** How many orders, and what the sum leaves out. */
  readonly of: string;
}

/** One currency and trust in words. */
export function totalText(
  { currency, trust, orders, sum, notSummed }: OrderTotal,
): TotalText {
  const isNone = notSummed === orders;
  return {
    sum: isNone
      ? "No amount"
      : [groupedAmount(sum, currency), currency ?? ""].join(" ").trim(),
    of: `in ${counted(orders, "order")}` +
      (trust === "claimed" ? ", claimed by webhooks alone" : "") +
      (notSummed > 0 && !isNone
        ? `, ${counted(notSummed, "amount")} not in it`
        : ""),
  };
}

/** All totals, a line each below how many orders there are. */
export function totalsLines(
  { orders, totals }: OrderTotalsJson,
): readonly string[] {
  return [
    counted(orders, "order"),
    ...totals.map((total) => {
      const { sum, of } = totalText(total);
      return `  ${sum} ${of}`;
    }),
  ];
}

/** How sure it is that an order belongs to the reference it was found by. */
export interface FoundBy {
  /**
   * `confirmed`: the service has shown it under the reference, or the reference
   * is its order id. `claimed`: only webhooks name it with the reference.
   */
  readonly trust: Trust;
  /** Other orders, which only webhooks name with the reference. */
  readonly alsoClaimed: readonly string[];
}

/** What webhooks alone say of the reference that an order was found by. */
export function foundByLines(
  reference: string,
  { trust, alsoClaimed }: FoundBy,
  columns: number | null,
): string[] {
  const name = printable(reference);
  if (trust === "claimed") {
    return [
      "",
      wrap(
        `Only webhooks name this order with "${name}". Anybody can send a ` +
          `webhook: the service has not shown the order under it.`,
        columns,
      ),
    ];
  }
  const [first, ...others] = alsoClaimed;
  if (first === undefined) return [];
  return [
    "",
    wrap(
      others.length === 0
        ? `Webhooks also name order ${printable(first)} with "${name}". The ` +
          `service has not shown that order under it.`
        : `Webhooks also name ${alsoClaimed.length} other orders with ` +
          `"${name}". The service has not shown them under it: ` +
          `rampkit find ${operands(reference)}`,
      columns,
    ),
  ];
}
