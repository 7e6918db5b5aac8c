import {
  type FieldsWith,
  fieldsWith,
  type KeptOrderField,
  type RowRead,
} from "../../core/wire/fields.ts";
import { isRecord, recordBy } from "../../core/guards.ts";
import { isLongText, LONGEST_IDENTIFIER } from "../../core/wire/objects.ts";
import { printable } from "../../core/text.ts";
import { utf8Prefix } from "../../core/bytes.ts";
import { parseExact } from "../../core/json/json.ts";
import { isDecimal } from "../../core/decimal.ts";
import {
  type Verdict,
  type VerdictReason,
  VERDICTS,
  type WitnessRule,
} from "../../core/chain/verdict.ts";
import { normaliseTime } from "../../core/time/service_time.ts";
import {
  compareFields,
  compareText,
  type EventKind,
} from "../machines/machine.ts";
import { compareTimes, laterTime } from "./time.ts";

/** Fields that a webhook and a reading of the Data API can both state. */
export interface OrderFacts {
  /** Fiat currency, upper case. */
  readonly currency: string | null;
  /** Amount in `currency`, a decimal string as sent. */
  readonly currencyAmount: string | null;
  /** Asset code in upper case. */
  readonly commodity: string | null;
  /** Network; webhooks do not state it. */
  readonly network: string | null;
  /** Amount of the asset, a decimal string as sent. */
  readonly cryptoAmount: string | null;
  /** Address the asset goes to. */
  readonly address: string | null;
  /** Transaction hash. */
  readonly txId: string | null;
  /** User identifier. */
  readonly userId: string | null;
  /** Click id; the test click id is left out. */
  readonly clickId: string | null;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** Payment error code or text. */
  readonly failReason: string | null;
}

/** The names of these fields, in the order of the table of fields. */
export const FACT_FIELDS: readonly (keyof OrderFacts)[] = fieldsWith("same");

/**
 * Facts of an order, the value of each given by its name; null means unknown.
 */
export const factsBy: FieldsBy<OrderFacts> = recordBy(FACT_FIELDS);

type FieldsBy<Fields> = (
  value: (field: keyof Fields) => string | null,
) => Fields;

/** Fields that a reading of the Data API alone states. */
export interface OrderDetails {
  /** Middle part of the dotted asset, for example `simple` or `sc`. */
  readonly cryptoType: string | null;
  /** Card used. */
  readonly cardId: string | null;
  /** Card brand. */
  readonly cardBrand: string | null;
  /** Authentication method of the payment. */
  readonly paymentType: string | null;
  /** Acquirer. */
  readonly processedThrough: string | null;
}

export const detailsBy: FieldsBy<OrderDetails> = recordBy(
  fieldsWith("part", "details"),
);

/** Fees: amounts are USD decimal strings, percents are shares as sent. */
export interface OrderFees {
  /** The partner's fee in USD. */
  readonly partnerFee: string | null;
  /** The partner's fee as a share. */
  readonly partnerFeePercent: string | null;
  /** The service's fee in USD. */
  readonly serviceFee: string | null;
  /** The service's fee as a share. */
  readonly serviceFeePercent: string | null;
}

export const feesBy: FieldsBy<OrderFees> = recordBy(fieldsWith("part", "fees"));

/** Every result of a comparison. */
export const MATCH_FACTS = [
  "nothing",
  "incomplete",
  "differs",
  "several",
  "matched",
] as const;

/**
 * How the latest reading compares with what the partner recorded.
 *
 * - `nothing`: nothing was recorded that the order can belong to.
 * - `incomplete`: what was recorded agrees, and something that it names could
 *   not be compared, or it names no amount.
 * - `differs`: nothing that was recorded agrees.
 * - `several`: more than one reference agrees, or too many were recorded.
 * - `matched`: what was recorded for one reference agrees, amount included.
 */
export type MatchFact = (typeof MATCH_FACTS)[number];

export type ClaimField = FieldsWith<"webhook"> | "scAddress";

/** What a webhook states of an order's fields; null means not stated. */
export type ClaimBody = Readonly<
  Record<ClaimField, string | null> & { digest: string }
>;

/** The fields that a webhook states of an order, in the order of the table. */
export const CLAIM_FIELDS: readonly ClaimField[] = [
  ...fieldsWith("webhook"),
  "scAddress",
];

/**
 * The most bytes of a text that a claim states, such as a transaction or an
 * address: the longest of any network have some 110.
 */
const LONGEST_CLAIMED = 128;

/**
 * The most bytes of a name or amount that a claim states, such as of a currency
 * or a verification: states, indexes and the log of transitions hold each again.
 */
const LONGEST_CLAIMED_NAME = 32;

/**
 * Makes all text in a decoded JSON value well formed and free of NUL, so that
 * any database and any encoder can hold it. Only an escape can bring in either,
 * so a text without `\\u` has nothing to clean, and is not walked.
 */
export function cleaned<T>(value: T, source: string): T {
  return source.includes("\\u") ? clean(value) as T : value;
}

function clean(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(clean);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, clean(inner)]),
  );
}

function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}

/**
 * An identifier fit for an indexed column: well formed and free of NUL, because
 * SQLite ends a text at NUL and a lone surrogate cannot be stored as UTF-8. Null
 * where it is too long for one.
 */
export function idText(value: unknown): string | null {
  return typeof value !== "string" || isLongText(value)
    ? null
    : emptyToNull(cleanText(value));
}

/** Text of a decoded field: null when absent or JSON null. */
export function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : null;
}

/** Like {@linkcode textOf}, with the empty string read as absent. */
export function filledText(value: unknown): string | null {
  return emptyToNull(textOf(value));
}

/**
 * Like {@linkcode filledText}, cut to a length: anybody may post a claim, and a
 * state and its indexes hold it again.
 */
export function claimText(
  value: unknown,
  longest: number = LONGEST_CLAIMED,
): string | null {
  const text = filledText(value);
  return text === null ? null : utf8Prefix(text, longest);
}

export function claimId(value: unknown): string | null {
  return claimText(value, LONGEST_IDENTIFIER);
}

export function claimName(value: unknown): string | null {
  return claimText(value, LONGEST_CLAIMED_NAME);
}

/** Like {@linkcode claimName}, in upper case, which can be longer. */
export function claimCode(value: unknown): string | null {
  return claimName(upper(filledText(value)));
}

/**
 * Text of a field of a reading: null when absent, the empty string when the
 * service states that there is none (empty or JSON null).
 */
export function statedText(value: unknown): string | null {
  if (value === undefined) return null;
  return value === null ? "" : textOf(value);
}

export function emptyToNull(text: string | null): string | null {
  return text === "" ? null : text;
}

export function upper(text: string | null): string | null {
  return text === null ? null : text.toUpperCase();
}

export function objectOf(
  value: unknown,
): Readonly<Record<string, unknown>> | null {
  return isRecord(value) ? value : null;
}

/** A click id that links: not empty, and not that of the test event. */
export function linking(clickId: string | null): string | null {
  return clickId === "" || clickId === "test_click_id" ? null : clickId;
}

const decoder = new TextDecoder();

/**
 * What can be read of the row in a body, and what cannot. The same rule that
 * the client uses, so that both report the same fields as odd.
 */
export function soundRow(
  body: Uint8Array,
  read: (row: Readonly<Record<string, unknown>>) => RowRead<object>,
): RowRead<Readonly<Record<string, unknown>>> | null {
  const text = decoder.decode(body);
  const value = objectOf(parseExact(text));
  if (value === null) return null;
  const { row, odd } = read(value);
  return { row: cleaned({ ...row }, text), odd };
}

/** The JSON object in a body, its numbers as exact decimal strings. */
export function exactObject(
  body: Uint8Array,
): Readonly<Record<string, unknown>> | null {
  const text = decoder.decode(body);
  return objectOf(cleaned(parseExact(text), text));
}

/** How long an expectation is valid unless it says otherwise: seven days. */
export const DEFAULT_VALID_FOR_MS: number = 7 * 24 * 60 * 60_000;

/** The longest time that an expectation may be valid: ten years. */
export const MOST_VALID_FOR_MS: number = 3653 * 24 * 60 * 60_000;

/**
 * Most expectations under one click id that an order keeps, those that expire
 * first: enough to see that a partner gives one click id to many customers.
 */
export const CANDIDATES_KEPT = 17;

/**
 * What the partner asked for, in a session or without one. Null means not
 * stated.
 */
export interface ExpectationTerms {
  /** Id of the session, or the one that was minted for the expectation. */
  readonly id: string;
  /** The session; null where there is none. */
  readonly sessionId: string | null;
  /** `simple` or `simple_full_restrict`; null without a session. */
  readonly flowType: string | null;
  /** Click id that it was recorded under; never empty nor the test click id. */
  readonly clickId: string | null;
  /** The partner's own reference; one reference names one purchase. */
  readonly reference: string | null;
  /** Asset asked for, upper case. */
  readonly commodity: string | null;
  /** Network asked for. */
  readonly network: string | null;
  /** Asset amount asked for, a decimal string. */
  readonly commodityAmount: string | null;
  /** Fiat currency asked for, upper case. */
  readonly currency: string | null;
  /** Fiat amount asked for, a decimal string. */
  readonly currencyAmount: string | null;
  /** Address asked for. */
  readonly walletAddress: string | null;
  /** User asked for. */
  readonly userId: string | null;
}

/** What the partner asked for, when, and how long it is valid. */
export interface Expectation extends ExpectationTerms {
  readonly recordedAt: string;
  /**
   * When the partner asked for it, as the partner states it, UTC ISO 8601 with
   * milliseconds. If stated, it replaces `recordedAt`.
   */
  readonly askedAt: string | null;
  readonly validForMs: number;
}

export function askedAtOf(
  { askedAt, recordedAt }: Pick<Expectation, "askedAt" | "recordedAt">,
): string {
  return askedAt ?? recordedAt;
}

export function validUntil(
  expectation: Pick<Expectation, "askedAt" | "recordedAt" | "validForMs">,
): string {
  const asked = askedAtOf(expectation);
  const untilMs = Date.parse(asked) + expectation.validForMs;
  return Number.isNaN(untilMs) ? asked : new Date(untilMs).toISOString();
}

/** What an expectation is for. */
export interface PurchaseName {
  /** The partner's reference; where there is none, the click id. */
  readonly kind: "reference" | "click";
  readonly name: string;
}

/** The purchase that an expectation is for; null where nothing names it. */
export function purchaseOf(
  { reference, clickId }: Pick<Expectation, "reference" | "clickId">,
): PurchaseName | null {
  if (reference !== null) return { kind: "reference", name: reference };
  return clickId === null ? null : { kind: "click", name: clickId };
}

export function purchaseKey(
  one: Pick<Expectation, "reference" | "clickId">,
): string {
  const purchase = purchaseOf(one);
  return purchase === null ? "" : `${purchase.kind}:${purchase.name}`;
}

/** What the partner's nodes showed of an order's transaction. */
export interface ChainReading {
  /** Effective time of the look, UTC ISO 8601. */
  readonly readAt: string;
  /** Digest of the event's body. */
  readonly digest: string;
  /** Network that was looked at. */
  readonly network: string;
  /** Asset that should have been paid, upper case; null when none was stated. */
  readonly asset: string | null;
  /** Middle part of the dotted asset; null when none was stated. */
  readonly type: string | null;
  /** The transaction; null once erased. */
  readonly txId: string | null;
  /**
   * Address that should have been paid; null once erased, and when none was
   * stated.
   */
  readonly address: string | null;
  /** Amount that should have been paid, a decimal string. */
  readonly amount: string | null;
  /**
   * SHA-256 of the input data of a call, in hex; null once erased, and when none
   * was stated.
   */
  readonly inputData: string | null;
  /** What the nodes showed. */
  readonly verdict: Verdict;
  /** Reason for the verdict; null when it needs none. */
  readonly reason: VerdictReason | null;
  /** What arrived, a decimal string. */
  readonly arrived: string | null;
  /** Tolerance of the amount that the partner had configured then. */
  readonly tolerance: string | null;
  /** Hash of the block; null when it is in none, and once erased. */
  readonly blockHash: string | null;
  /** Height of the block. */
  readonly blockHeight: number | null;
  /** Place of the payment in the transaction; null once erased. */
  readonly index: number | null;
  /** Blocks from its own to the newest then. */
  readonly confirmations: number | null;
  /** Whether it had the confirmations that the partner asks for. */
  readonly final: boolean;
  /** Names of the nodes that agreed on it. */
  readonly nodes: readonly string[];
  /** Whether the person it concerns was erased. */
  readonly erased: boolean;
}

/** Body of `chain_reading`, and what is kept of it in `order_redacted`. */
export type ChainReadingFields =
  & Readonly<Partial<Record<ChainText, string> & Record<ChainNumber, number>>>
  & Pick<ChainReading, "network" | "verdict" | "final" | "nodes">
  & { readonly reason?: VerdictReason };

/** `input_data` is the SHA-256 of the input data of a call, in hex. */
type ChainText =
  | ("asset" | "type" | "tx_id" | "address" | "amount" | "input_data")
  | ("arrived" | "tolerance" | "block_hash" | "answers");
type ChainNumber = "block_height" | "index" | "confirmations";

/** What an erasure keeps: the rest names a person, or leads to one. */
export const KEPT_OF_CHAIN_READING = [
  "network",
  "asset",
  "type",
  "amount",
  "verdict",
  "reason",
  "arrived",
  "tolerance",
  "block_height",
  "confirmations",
  "final",
  "nodes",
] as const satisfies readonly (keyof ChainReadingFields)[];

/**
 * Reads the fields of a chain reading, whose numbers are exact decimal strings.
 * Null where it has no verdict that is known.
 */
export function readChainFields(
  fields: Readonly<Record<string, unknown>>,
  { readAt, digest, erased }: Pick<
    ChainReading,
    "readAt" | "digest" | "erased"
  >,
): ChainReading | null {
  const verdict = VERDICTS.find((one) => one === fields.verdict);
  const network = filledText(fields.network);
  if (verdict === undefined || network === null) return null;
  return {
    readAt,
    digest,
    network,
    asset: upper(filledText(fields.asset)),
    type: filledText(fields.type),
    txId: filledText(fields.tx_id),
    address: filledText(fields.address),
    amount: decimal(fields.amount),
    inputData: filledText(fields.input_data),
    verdict,
    reason: filledText(fields.reason) as VerdictReason | null,
    arrived: decimal(fields.arrived),
    tolerance: decimal(fields.tolerance),
    blockHash: filledText(fields.block_hash),
    blockHeight: whole(fields.block_height),
    index: whole(fields.index),
    confirmations: whole(fields.confirmations),
    final: fields.final === true,
    nodes: Array.isArray(fields.nodes)
      ? fields.nodes.filter((node) => typeof node === "string")
      : [],
    erased,
  };
}

export function isLaterLook(a: ChainReading, b: ChainReading): boolean {
  return (compareTimes(a.readAt, b.readAt) ||
    compareText(a.digest, b.digest)) > 0;
}

function decimal(value: unknown): string | null {
  return typeof value === "string" && isDecimal(value) ? value : null;
}

function whole(value: unknown): number | null {
  return typeof value === "string" && /^\d{1,15}$/.test(value)
    ? Number(value)
    : null;
}

/** A rule, and from when it applies. */
export interface WitnessRuleChange {
  /**
   * It applies to orders that began then or later, UTC ISO 8601 in whole
   * seconds.
   */
  readonly from: string;
  readonly rule: WitnessRule;
  readonly recordedAt: string;
  readonly digest: string;
}

/** Body of `witness_required`: since when the chain is asked for, or until when. */
export type WitnessRequiredBody =
  | {
    /** Orders that began then or later wait for the chain, UTC ISO 8601. */
    readonly since: string;
    /** Release of an order whose transaction cannot be looked up. */
    readonly unsupported: "yes" | "wait";
  }
  | {
    /** Orders that began then or later do not wait for it, UTC ISO 8601. */
    readonly until: string;
  };

/** The body by which a rule holds from a time on. */
export function witnessRuleBody(
  rule: WitnessRule,
  from: string,
): WitnessRequiredBody {
  return rule === "off"
    ? { until: from }
    : { since: from, unsupported: rule === "supported" ? "yes" : "wait" };
}

/**
 * Reads that body. A rule changes no order that had begun before it was recorded.
 * Null when it states no time.
 */
export function readWitnessRule(
  { since, until, unsupported }: Readonly<Record<string, unknown>>,
  { recordedAt, digest }: Pick<WitnessRuleChange, "recordedAt" | "digest">,
): WitnessRuleChange | null {
  const stated = normaliseTime(filledText(since) ?? filledText(until));
  if (stated === null) return null;
  const rule = filledText(since) === null
    ? "off"
    : unsupported === "yes"
    ? "supported"
    : "all";
  const from = nextSecond(laterTime(stated, recordedAt));
  return { from, rule, recordedAt, digest };
}

/**
 * A time, or the next whole second: the service states when an order began in
 * those.
 */
export function nextSecond(time: string): string {
  const second = new Date(Math.ceil(Date.parse(time) / 1000) * 1000);
  return second.toISOString().replace(".000Z", "Z");
}

/** Everything that a person can do about an order. */
export const HAND_OUTCOMES = [
  "delivered",
  "refunded",
  "written_off",
  "taken_back",
] as const;

/**
 * What a person did about an order: handed over the goods, returned the money,
 * gave it up, or took back what was recorded before.
 */
export type HandOutcome = (typeof HAND_OUTCOMES)[number];

/** What stands of an order: nothing does after `taken_back`. */
export type StandingOutcome = Exclude<HandOutcome, "taken_back">;

export interface HandRelease {
  readonly outcome: HandOutcome;
  /** The purchase that was delivered; null where nothing was. */
  readonly purchase: PurchaseName | null;
  readonly recordedAt: string;
  readonly eventId: string;
}

/** What a person recorded of an order: nothing of it is undone by what comes after. */
export interface Hand {
  /** The last that was recorded; null where nobody has recorded anything. */
  readonly hand: HandRelease | null;
  /**
   * The last delivery, or the last that took one back, where something else was
   * recorded after it; else null. A refund leaves what was delivered where it is.
   */
  readonly handed: HandRelease | null;
}

export function evolveHand({ hand, handed }: Hand, added: HandRelease): Hand {
  const all = [hand, handed, added].filter((one) => one !== null).sort((a, b) =>
    compareFields(a, b, ["recordedAt", "eventId"])
  );
  const last = all.at(-1) ?? null;
  const moved =
    all.findLast(({ outcome }) =>
      outcome === "delivered" || outcome === "taken_back"
    ) ?? null;
  return { hand: last, handed: moved === last ? null : moved };
}

export function deliveredPurchase({ hand, handed }: Hand): PurchaseName | null {
  return (handed ?? hand)?.purchase ?? null;
}

export function standingOutcome(
  hand: Pick<HandRelease, "outcome"> | null,
): StandingOutcome | null {
  return hand === null || hand.outcome === "taken_back" ? null : hand.outcome;
}

/** The most characters of who did something, and of what it refers to. */
export const LONGEST_NAME = 256;

/** Whether a person has written something that can be stored as it is. */
export function isHandText(value: unknown, most: number): value is string {
  return typeof value === "string" && value.trim() !== "" &&
    value.length <= most && value.isWellFormed() && !value.includes("\0");
}

/** Says which field of what a person records is wrong, and what to do. */
export function wrongHandField(
  field: string,
  value: unknown,
  advice: string,
): string {
  const text = typeof value === "string"
    ? value.length <= 100
      ? `"${printable(value)}"`
      : `a text of ${value.length} characters`
    : String(value);
  return `Wrong ${field}: ${text}; ${advice}`;
}

interface OfOrder {
  readonly order_id: string;
}

/** What the body of each kind of event says. */
export interface EventBodies {
  /** The exact bytes received. */
  readonly webhook: Uint8Array;
  /** Exact JSON text of the one order or user, as the service sent it. */
  readonly order_snapshot: string;
  readonly user_snapshot: string;
  readonly order_absent: OfOrder;
  readonly order_contradicted: OfOrder & {
    /** The claimed status that the service does not agree with. */
    readonly status: string;
    /** `recordedAt` of the last claim that this contradicts. */
    readonly up_to: string;
  };
  readonly session_created: SessionCreatedBody;
  readonly order_expected: OrderExpectedBody;
  readonly order_released: OrderReleasedBody;
  readonly chain_reading: ChainReadingBody;
  readonly witness_required: WitnessRequiredBody;
  readonly order_redacted: OrderRedactedBody;
  readonly delivery_unanswered: {
    /** `eventId` of the delivery. */
    readonly event_id: string;
    /** What the sender got instead of a timely 2xx. */
    readonly answer: "late" | "503" | "none";
  };
  readonly month_closed: MonthClosedBody;
  readonly note: object;
  readonly person_erased: object;
}

/** A fact ready to be appended. Everything in it is decided before storage. */
export interface NewEvent {
  /**
   * Minted once, before database or spool: a ULID at receipt, or, for what was
   * read or decided, the time of the reading and a hash of (kind, entity,
   * `readAt`, digest).
   */
  readonly eventId: string;
  /** Kind of fact. */
  readonly kind: EventKind;
  /** Webhook type as sent; null for other kinds and for quarantined bodies. */
  readonly type: string | null;
  /** Order the fact is about; well formed, free of NUL, never empty. */
  readonly orderId: string | null;
  /** User the fact is about; well formed, free of NUL, never empty. */
  readonly userId: string | null;
  /** Click id; well formed, free of NUL, never empty. */
  readonly clickId: string | null;
  /** The service's time if it states one, UTC ISO 8601 ending in `Z`. */
  readonly occurredAt: string | null;
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Of readings: the answer's `Date`, else our clock when asking. */
  readonly readAt: string | null;
  /** The exact bytes received. */
  readonly body: Uint8Array;
  /**
   * SHA-256 in lower-case hex: of the bytes (webhooks), or of the canonical
   * exact value (everything else).
   */
  readonly digest: string;
  /** Sixteen random bytes that blind the body's commitment in the chain. */
  readonly salt: Uint8Array;
}

export interface RecordedEvent extends NewEvent {
  /** Place in the ledger; ascending, gaps are legal. */
  readonly position: number;
}

/** What an order is compared with. */
export interface ExpectedTerms {
  /** User who should pay. */
  readonly user_id?: string;
  /** Asset. */
  readonly commodity?: string;
  /** Network. */
  readonly network?: string;
  /** Amount of the asset, a decimal string. */
  readonly commodity_amount?: string;
  /** Fiat currency. */
  readonly currency?: string;
  /** Fiat amount, a decimal string. */
  readonly currency_amount?: string;
  /** Address. */
  readonly wallet_address?: string;
}

/** Body of `session_created`. */
export interface SessionCreatedBody extends ExpectedTerms {
  /** `sessionId` the service returned; webhooks name it `hpp_session_id`. */
  readonly session_id: string;
  /** `requestId` the service returned. */
  readonly request_id?: string;
  /** Click id handed to the widget with this session. */
  readonly click_id?: string;
  /** The partner's own reference, for example a basket id. */
  readonly reference?: string;
  /** `simple` or `simple_full_restrict`. */
  readonly flow_type: string;
  /**
   * What to compare the order with when the session leaves it out or says
   * something else: a smart-contract session, for example, has no amount. A
   * field stated here replaces that of the session.
   */
  readonly expected?: ExpectedTerms;
  /** When it was asked for, UTC ISO 8601, if not when it was recorded. */
  readonly asked_at?: string;
  /** How long it is valid, in milliseconds. @default seven days */
  readonly valid_for_ms?: number;
}

export interface OrderExpectedBody
  extends
    ExpectedTerms,
    Pick<SessionCreatedBody, "reference" | "asked_at" | "valid_for_ms"> {
  readonly expectation_id: string;
  readonly click_id: string;
}

export interface OrderReleasedBody {
  readonly order_id: string;
  readonly outcome: HandOutcome;
  readonly by: string;
  /** Why. It must name no customer, because an erasure keeps it. */
  readonly why: string;
  /**
   * One more than were recorded of the order before. Of two with one turn the
   * first is stored; the second was decided without it.
   */
  readonly turn?: number;
  readonly for?: string;
  /** Click id of the purchase that was delivered, where it has no reference. */
  readonly for_click_id?: string;
  readonly confirmed?: boolean;
}

export type ChainReadingBody = ChainReadingFields & OfOrder;

/**
 * Body of `order_redacted`: the fields of an order that name nobody. It has the
 * times of the event that it replaces, and is folded as that event.
 */
export interface OrderRedactedBody
  extends Readonly<Partial<Record<KeptOrderField, string>>> {
  readonly order_id: string;
  /** Random text in place of the user id. */
  readonly user_id?: string;
  readonly click_id?: string;
  /** Empty where the service stated that there was none; else left out. */
  readonly tx_id?: "";
  /** True where the service named a transaction; else left out. */
  readonly tx_named?: true;
  /** True where it stated one in no form of its network; else left out. */
  readonly tx_unreadable?: true;
  readonly match?: MatchFact;
  readonly witness?: ChainReadingFields;
  /**
   * The erased event that it replaces; null for a reading that was made after
   * the erasure.
   */
  readonly redacts: RedactedEvent | null;
}

/** The erased event that an `order_redacted` replaces. */
interface RedactedEvent {
  readonly kind: "order_snapshot" | "webhook" | "chain_reading";
  readonly type: string | null;
  readonly event_id: string;
  /**
   * Its commitment in the evidence chain, 64 hex digits. So the chain proves of
   * which order the erased event is.
   */
  readonly commitment: string;
  /** Which part of it was removed: its body, or also whom it names. */
  readonly part: "body" | "identity";
}

/** Body of `month_closed`. It holds no personal data. */
export interface MonthClosedBody {
  /** The month, `2026-11`. There is one event of it. */
  readonly month: string;
  readonly time_zone: string;
  /** Version of the time zone data; null where the runtime does not say. */
  readonly time_zone_version: string | null;
  readonly book_by: string;
  readonly position: number;
  /** Events up to that position: what stays the same in an imported ledger. */
  readonly events: number;
  readonly fold_version: number;
  readonly files: readonly MonthClosedFile[];
}

/** One file of a closed month. */
export interface MonthClosedFile {
  /** `items.csv`, for example. */
  readonly name: string;
  /** SHA-256 of its bytes in UTF-8, lower-case hex. */
  readonly sha256: string;
  /** Its text. */
  readonly text: string;
}
