/** What may be recorded: terms of a click id that is free, and rules of the witness. */
import {
  FIAT_CURRENCIES,
  FIAT_DECIMALS,
  readAmount,
} from "../../core/rules/session_limits.ts";
import { isWalletAddress } from "../../core/rules/wallet_address.ts";
import { printable } from "../../core/text.ts";
import { readQueryTime } from "../../core/time/service_time.ts";
import {
  isIdentifier,
  isLongText,
  LONGEST_IDENTIFIER,
} from "../../core/wire/objects.ts";
import {
  askedAtOf,
  type ExpectedTerms,
  linking,
  MOST_VALID_FOR_MS,
  type NewEvent,
  nextSecond,
  type OrderExpectedBody,
  purchaseKey,
  purchaseOf,
  type SessionCreatedBody,
  validUntil,
} from "../events/event.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { WitnessRule } from "../../core/chain/verdict.ts";
import { isExpectation, isWitnessRule } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import { sameAmount } from "../orders/order_fold.ts";
import { WitnessRules } from "../orders/expectations.ts";
import { type Driver, readDeciding, statement } from "../store/database.ts";
import { readGuard } from "../projection/guard.ts";
import { orderRows, orderView, selectRows } from "../projection/rows.ts";
import { EVENT_COLUMNS, eventsOf, msOf, readEvents } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";

/** A field of an expectation that cannot be recorded. */
export interface ExpectationIssue {
  /** The field, as the caller wrote it. */
  readonly field: string;
  /** What is wrong with it, and what to do. */
  readonly message: string;
}

/**
 * Why an expectation was not recorded.
 *
 * - `invalid`: fields are wrong; `issues` lists all of them.
 * - `click_id_in_use`: the click id is still valid for another reference.
 * - `purchase_paid`: the service has shown success of the purchase, and other
 *   terms would change nothing.
 */
export type ExpectationErrorCode =
  | "invalid"
  | "click_id_in_use"
  | "purchase_paid";

/** A session or expectation was not recorded. Nothing was written. */
export class ExpectationError extends Error {
  /** Always `ExpectationError`. */
  override readonly name = "ExpectationError";
  /** Why it was not recorded. */
  readonly code: ExpectationErrorCode;
  /** Every field that is at fault. */
  readonly issues: readonly ExpectationIssue[];

  /**
   * Says which fields are at fault.
   *
   * @param issues Every field that is at fault.
   * @param code Why it was not recorded.
   */
  constructor(
    issues: readonly ExpectationIssue[],
    code: ExpectationErrorCode = "invalid",
  ) {
    super(
      "Cannot record what is expected: " +
        issues.map(({ field, message }) => `${field} ${message}`).join("; "),
    );
    this.code = code;
    this.issues = issues;
  }
}

/**
 * A session to record: its request and response in one object. Those of the
 * client can be spread into it; other fields are ignored.
 */
export interface SessionToRecord extends
  TermsToRecord,
  Omit<
    SessionCreatedBody,
    "session_id" | "request_id" | "flow_type" | "expected" | keyof ExpectedTerms
  > {
  /** Id of the session, as the service or as the client names it. */
  readonly session_id?: string;
  /** The same. */
  readonly sessionId?: string;
  /** Request id, where the service returned one. */
  readonly request_id?: string | null;
  /** The same. */
  readonly requestId?: string | null;
  /** `simple` or `simple_full_restrict`. @default "simple" */
  readonly flow_type?: string;
  /**
   * What an order is compared with when the session does not state it. It
   * replaces the session's own fields.
   */
  readonly expected?: TermsToRecord;
}

/** What an order is compared with, by the service's field names. */
export interface TermsToRecord
  extends Omit<ExpectedTerms, "commodity_amount" | "currency_amount"> {
  /** Asset amount: a decimal string, or a whole number. */
  readonly commodity_amount?: string | number;
  /** Fiat amount, likewise. */
  readonly currency_amount?: string | number;
}

/**
 * What an order must match, recorded without a session. Identifiers have at
 * most 256 bytes in UTF-8; amounts are exact decimals in quotes, or whole
 * numbers.
 */
export interface OrderExpectation {
  /** Click id that the widget is opened with; one for each purchase. */
  readonly clickId: string;
  /**
   * Your own reference of the purchase, for example an invoice or a basket. A
   * reference names one purchase: not a user, and not a shop.
   */
  readonly reference?: string;
  /** Fiat currency, for example `USD`. */
  readonly currency?: string;
  /** Fiat amount; needs `currency`. */
  readonly currencyAmount?: string | number;
  /** Asset, for example `ETH`. */
  readonly commodity?: string;
  /** Network of the asset. */
  readonly network?: string;
  /** Amount of the asset; needs `commodity`. */
  readonly commodityAmount?: string | number;
  /** Address that the asset goes to. */
  readonly walletAddress?: string;
  /** User who should pay. */
  readonly userId?: string;
  /** How long it is valid, in milliseconds. @default {seven days} */
  readonly validForMs?: number;
  /**
   * When it was asked for, UTC ISO 8601. State it where that is long before it
   * is recorded, for example when a lost ledger is begun anew.
   *
   * @default {when it is recorded}
   */
  readonly askedAt?: string;
}

/** A time further ahead of our clock than this is refused as wrong. */
const AHEAD_MS = 5 * 60_000;

type Wrong = { readonly wrong: string };

/** How a field is read: its value as it is stored, or what is wrong. */
type Check = (value: unknown, now: number) => string | number | Wrong;
type Checks = Readonly<Record<string, Check>>;

const identifier: Check = (value) =>
  isIdentifier(value)
    ? value
    : wrong(kindOf(value), `use 1 to ${LONGEST_IDENTIFIER} bytes in UTF-8`);

const amountOf = (decimals?: number): Check => (value) => {
  const read = readAmount(value, decimals);
  return "amount" in read
    ? read.amount
    : wrong(shown(value), AMOUNT_ADVICE[read.fault]);
};

const AMOUNT_ADVICE = {
  not_decimal: 'use a decimal in quotes, such as "25.50"',
  not_positive: "use an amount above zero",
  too_many_decimals:
    `use at most ${FIAT_DECIMALS} decimals, which is all that can be paid`,
};

/** Fields that say what an order is compared with. */
const TERMS = {
  currency: (value) =>
    typeof value === "string" && FIAT_CURRENCIES.includes(value.toUpperCase())
      ? value
      : wrong(shown(value), `use ${FIAT_CURRENCIES.join(" or ")}`),
  currency_amount: amountOf(FIAT_DECIMALS),
  commodity: identifier,
  network: identifier,
  commodity_amount: amountOf(),
  user_id: identifier,
  wallet_address: identifier,
} satisfies Checks;

const OF_ORDER: Checks = {
  click_id: (value, now) =>
    value === "" || linking(String(value)) !== null
      ? identifier(value, now)
      : wrong(
        '"test_click_id", which the service uses for test events',
        "use one of your own for each purchase",
      ),
  reference: identifier,
  valid_for_ms: (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value > 0 &&
      value <= MOST_VALID_FOR_MS
      ? value
      : wrong(
        shown(value),
        `use whole milliseconds from 1 to ${MOST_VALID_FOR_MS}`,
      ),
  asked_at: (value, now) => {
    const timeMs = typeof value === "string" ? readQueryTime(value) : null;
    if (timeMs === null) {
      return wrong(shown(value), "use a time such as 2026-11-20T09:00:00Z");
    }
    return timeMs <= now + AHEAD_MS
      ? new Date(timeMs).toISOString()
      : { wrong: `is ${shown(value)}, which is in the future` };
  },
  ...TERMS,
};

const OF_SESSION: Checks = {
  ...{ session_id: identifier, request_id: identifier, flow_type: identifier },
  ...OF_ORDER,
  // The service made the session, so it may know a currency that we do not.
  currency: (value) =>
    typeof value === "string" && /^[A-Za-z]{3}$/.test(value)
      ? value
      : TERMS.currency(value),
};

function wrong(is: string, advice: string): Wrong {
  return { wrong: `is ${is}; ${advice}` };
}

/** The kind of a value that may be personal. */
function kindOf(value: unknown): string {
  if (value === "") return "empty";
  if (typeof value !== "string") return `of type ${typeof value}`;
  return isLongText(value)
    ? `${new TextEncoder().encode(value).length} bytes long`
    : "no well-formed text";
}

function shown(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? String(value));
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

type Stored = Record<string, string | number>;

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Reads fields in the order in which they were given; collects what is wrong. */
function readFields(
  given: object,
  checks: Checks,
  { now, issues, nameOf = (name) => name, path = "" }: {
    readonly now: number;
    readonly issues: ExpectationIssue[];
    readonly nameOf?: (given: string) => string | undefined;
    readonly path?: string;
  },
): Stored {
  const stored: Stored = {};
  for (const [field, value] of Object.entries(given)) {
    const name = nameOf(field) ?? "";
    if (!isGiven(value)) continue;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    const read = check?.(value, now);
    if (typeof read === "object") {
      issues.push({ field: path + field, message: read.wrong });
    } else if (read !== undefined) stored[name] = read;
  }
  return stored;
}

/** Notes an address that cannot be one of its network: no order would match it. */
function checkWallet(
  { network, wallet_address: address }: Stored,
  field: string,
  issues: ExpectationIssue[],
): void {
  if (typeof network !== "string" || typeof address !== "string") return;
  if (isWalletAddress(network, address) !== false) return;
  const message = `is no address of ${printable(network)}; correct it`;
  issues.push({ field, message });
}

/** Other names of fields of a session, as the client has them. */
const CLIENT_NAMES: Readonly<Record<string, string>> = {
  sessionId: "session_id",
  requestId: "request_id",
};

/**
 * The fields that are stored of a session, in the order in which they came.
 *
 * @throws {ExpectationError} `invalid`, with every field at fault.
 */
export function sessionBody(
  session: SessionToRecord,
  now: number,
): SessionCreatedBody {
  const issues: ExpectationIssue[] = [];
  const stored = readFields(session, OF_SESSION, {
    ...{ now, issues, nameOf: (name) => CLIENT_NAMES[name] ?? name },
  });
  checkWallet(stored, "wallet_address", issues);
  const expected = session.expected &&
    readFields(session.expected, TERMS, { now, issues, path: "expected." });
  if (expected) {
    const both = { ...stored, ...expected };
    checkWallet(both, "expected.wallet_address", issues);
  }
  if (!isGiven(session.session_id ?? session.sessionId)) {
    issues.push({
      field: "session_id",
      message: "is missing; use the sessionId that the service returned",
    });
  }
  if (issues.length > 0) throw new ExpectationError(issues);
  return {
    ...stored,
    session_id: String(stored.session_id),
    flow_type: String(stored.flow_type ?? "simple"),
    ...expected && { expected },
  };
}

/** The stored name of each field: `click_id` of `clickId`. */
const STORED_NAMES = new Map(
  Object.keys(OF_ORDER).map((name) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    name,
  ]),
);

/** What some fields of an expectation need. */
const NEEDED = [
  ["clickId", null, "use the click id that the widget is opened with"],
  ["currency", "currencyAmount", "currencyAmount needs it"],
  ["commodity", "commodityAmount", "commodityAmount needs it"],
] as const;

/**
 * The body of the event of an expectation, whose id was minted.
 *
 * @throws {ExpectationError} `invalid`, with every field at fault.
 */
export function expectationBody(
  given: OrderExpectation,
  { id, now }: { readonly id: string; readonly now: number },
): OrderExpectedBody {
  const issues: ExpectationIssue[] = [];
  const stored = readFields(given, OF_ORDER, {
    ...{ now, issues, nameOf: (field) => STORED_NAMES.get(field) },
  });
  for (const field of Object.keys(given)) {
    if (STORED_NAMES.has(field)) continue;
    const known = [...STORED_NAMES.keys()].join(", ");
    issues.push({ field, message: `is unknown; use ${known}` });
  }
  checkWallet(stored, "walletAddress", issues);
  for (const [field, by, why] of NEEDED) {
    const isNeeded = by === null || isGiven(given[by]);
    if (!isNeeded || isGiven(given[field])) continue;
    issues.push({ field, message: `is missing; ${why}` });
  }
  if (issues.length > 0) throw new ExpectationError(issues);
  const { click_id, ...rest } = stored;
  return { expectation_id: id, click_id: String(click_id), ...rest };
}

/** The fields of terms that an order is compared with. */
const COMPARED = [
  ...["commodity", "network", "commodityAmount", "currency"] as const,
  ...["currencyAmount", "walletAddress", "userId"] as const,
];

/**
 * Refuses terms that would change nothing, or mean two purchases at once.
 *
 * @throws {ExpectationError} `click_id_in_use` of a click id that is still valid for
 * another reference; `purchase_paid` of other terms for a purchase of which the
 * service has shown success.
 */
export async function refuseTerms(
  driver: Driver,
  event: NewEvent,
  assets: AssetTable,
): Promise<void> {
  const fact = readFact({ ...event, position: 0 });
  if (!isExpectation(fact)) return;
  const { expectation } = fact;
  const { clickId, reference } = expectation;
  const purchase = purchaseOf(expectation);
  if (purchase === null) return;
  const from = askedAtOf(expectation);
  const until = validUntil(expectation);
  const { hash } = await readGuard(driver);
  const [asked, orders] = await readDeciding(driver, [
    statement(
      `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.position IN (
          SELECT x.position FROM expected AS x
          WHERE x.click = ?1 AND x.valid_until >= ?2 AND x.asked_at <= ?3
            AND x.reference IS NOT ?4
          ORDER BY x.valid_until LIMIT 1)
        OR (e.position > (SELECT position FROM ledger)
          AND e.kind IN ('session_created', 'order_expected'))`,
      ...[clickId === null ? null : hash.of("asked_click", clickId)],
      ...[msOf(from) ?? 0, msOf(until) ?? 0],
      reference === null ? null : hash.of("asked_reference", reference),
    ),
    selectRows(
      "orders",
      "r.no IN (SELECT no FROM lookup WHERE hash = ? AND shown = 1 LIMIT 50)",
      hash.of(purchase.kind, purchase.name),
    ),
  ]);
  const other = eventsOf(asked).map(readFact)
    .filter(isExpectation).map(({ expectation }) => expectation)
    .find((one) =>
      one.clickId !== null && one.clickId === clickId &&
      one.reference !== reference &&
      askedAtOf(one) <= until && validUntil(one) >= from
    );
  if (other !== undefined) {
    const holder = other.reference === null
      ? "a purchase without a reference"
      : `the reference ${JSON.stringify(other.reference)}`;
    throw new ExpectationError([{
      field: "click_id",
      message: `${JSON.stringify(clickId)} is still valid for ${holder}, ` +
        `until ${validUntil(other)}; take a new click id for each purchase, ` +
        "or state the same reference",
    }], "click_id_in_use");
  }
  const paid = orderRows(orders).values().map((row) =>
    orderView(row, { assets })
  ).find(({ expected, history }) =>
    expected !== null && purchaseKey(expected) === purchaseKey(expectation) &&
    history.some(({ source, status }) =>
      source === "snapshot" && status === "success"
    ) &&
    COMPARED.some((field) => {
      const [was, is] = [expected[field], expectation[field]];
      return was !== is &&
        (was === null || is === null || !sameAmount(was, is, null));
    })
  );
  if (paid === undefined) return;
  throw new ExpectationError([{
    field: purchase.kind === "reference" ? "reference" : "click_id",
    message: `${JSON.stringify(purchase.name)} was paid by ${paid.orderId}; ` +
      "take a new one for each purchase, or state the same terms",
  }], "purchase_paid");
}

/** The rule for orders that begin from a time on. */
export async function readWitnessRule(
  driver: Driver,
  time: string,
): Promise<WitnessRule> {
  const recorded = await readEvents(
    driver,
    `events AS e WHERE e.kind = 'witness_required' AND e.${IS_RARE}`,
  );
  const rules = new WitnessRules();
  for (const { change } of recorded.map(readFact).filter(isWitnessRule)) {
    rules.add(change);
  }
  return rules.at(nextSecond(time));
}
