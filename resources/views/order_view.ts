import type {
  Anomaly,
  OrderReason,
  OrderState,
  OutcomeCode,
  RecordedRelease,
} from "../../ledger/mod.ts";
import { type OrderInContext, outcomeNow } from "../../ledger/for_resources.ts";
import type { Freshness } from "../../sync/mod.ts";
import { describeAnomaly } from "../wording/anomaly.ts";
import { describeFreshness } from "../wording/freshness.ts";
import { describeOrderReason } from "../wording/state_reasons.ts";
import { OUTCOME_WORDS } from "../wording/outcome.ts";
import {
  describeHandRelease,
  RELEASE,
  RELEASE_REASON,
} from "../wording/release.ts";
import { describeWitness } from "../wording/witness.ts";
import { span } from "../wording/phrases.ts";
import { operands } from "./shell_word.ts";
import {
  ageText,
  counted,
  type Fact,
  labelled,
  minuteText,
  wrap,
} from "./text.ts";
import { customerMessage, nextStep } from "./next_step.ts";
import {
  amountText,
  failMeaning,
  paidText,
  shownFields,
  shownText,
} from "./order_fields.ts";
import { printable } from "../../core/printable.ts";
import { drawTable } from "./table.ts";

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
export interface OrderAside {
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
