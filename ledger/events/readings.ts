import { emptyRecord, recordBy } from "../../core/guards.ts";
import {
  CARD_FIELDS,
  LIMIT_FIELDS,
  ORDER_FIELD_NAMES,
  ORDER_FIELDS,
  readOrderRow,
  readUserRow,
  USER_FIELDS,
  type UserFieldTable,
} from "../../core/wire/fields.ts";
import type { OddField } from "../../core/wire/objects.ts";
import {
  filledText,
  linking,
  type MatchFact,
  objectOf,
  type OrderDetails,
  type OrderFacts,
  type OrderFees,
  type RecordedEvent,
  soundRow,
  statedText,
  textOf,
  upper,
} from "./event.ts";
import { compareTimes, effectiveReadAt, effectiveTime } from "./time.ts";
import {
  isVisible,
  type TransactionForm,
  transactionForm,
} from "../../core/chain/canonical.ts";
import { normaliseStatus } from "../machines/machine.ts";
import type { Status } from "../machines/transition.ts";
import { normaliseTime } from "../../core/time/service_time.ts";

/**
 * What a reading of the orders endpoint says. In its fields null means absent,
 * and the empty string that the service states that there is none.
 */
export interface OrderReading extends OrderFacts, OrderDetails, OrderFees {
  readonly digest: string;
  readonly readAt: string;
  /** Status; empty when none is stated, or it cannot be read. */
  readonly status: Status;
  /**
   * Effective time of the last change, UTC ISO 8601. One that is not stated, or
   * lies before the creation, is none: then it is that of the reading.
   */
  readonly changedAt: string;
  /** Effective creation time, UTC ISO 8601; empty when not stated. */
  readonly createdAt: string;
  /**
   * `changed_at` as stated where `changedAt` is not that, else null; empty where
   * none was stated.
   */
  readonly statedChangedAt: string | null;
  /** `created_at` as stated where `createdAt` is not that, else null. */
  readonly statedCreatedAt: string | null;
  readonly scInputData: string | null;
  readonly odd: readonly OddField[];
  /**
   * How the order compared with what the partner recorded when this reading was
   * redacted; null for a reading that was not redacted.
   */
  readonly match: MatchFact | null;
  /** How it stated a transaction that was redacted; else null. */
  readonly erasedTx: Exclude<TransactionForm, "empty"> | null;
}

/**
 * Normalises an order of the Data API; null where a body is no object. Numbers are
 * exact decimal strings, and odd fields are left out.
 *
 * Source: service interface, "Order (Data API)".
 */
export function readOrder(
  event: Pick<RecordedEvent, "digest" | "readAt" | "recordedAt" | "body">,
): OrderReading | null {
  const found = soundRow(event.body, readOrderRow);
  if (found === null) return null;
  const { row: order, odd } = found;
  const status = filledText(order.status);
  const readAt = effectiveReadAt(event.readAt, event.recordedAt);
  const time = (value: unknown) =>
    effectiveTime(normaliseTime(textOf(value)) ?? "", readAt);
  const changed = time(order.changed_at);
  const created = time(order.created_at);
  const reading: Filled = { ...unread };
  reading.digest = event.digest;
  reading.readAt = readAt;
  reading.status = status === null ? "" : normaliseStatus(status);
  const createdAt = earlier(created.counts, EARLIEST) ? "" : created.counts;
  // One that lies ahead of the reading says nothing of what came before it.
  const from = created.stated === null && createdAt || EARLIEST;
  const isNone = changed.stated === null && earlier(changed.counts, from);
  reading.changedAt = isNone ? readAt : changed.counts;
  reading.createdAt = createdAt;
  reading.statedChangedAt = isNone ? changed.counts : changed.stated;
  reading.statedCreatedAt = created.stated;
  reading.odd = odd;
  for (const [name, wire] of STATED) reading[name] = statedText(order[wire]);
  reading.currency = upper(reading.currency);
  reading.txId = statedTransaction(order.tx_id, odd);
  reading.clickId = linking(textOf(order.click_id));
  const crypto = filledText(order.crypto);
  if (crypto !== null) {
    const first = crypto.indexOf(".");
    const last = crypto.lastIndexOf(".");
    reading.commodity = upper(first === -1 ? crypto : crypto.slice(0, first));
    if (last > first) reading.cryptoType = crypto.slice(first + 1, last);
    if (last !== -1) reading.network = crypto.slice(last + 1);
  }
  return reading;
}

/** Before it are the zero times of programs only, in the years 1 and 1970. */
const EARLIEST = "1971-01-01T00:00:00Z";

function earlier(a: string, b: string): boolean {
  return compareTimes(a, b) < 0;
}

/**
 * Null where the service leaves the transaction out. What is no text, or has
 * nothing to see in it, states that there is none.
 */
function statedTransaction(
  value: unknown,
  odd: readonly OddField[],
): string | null {
  const text = statedText(value);
  if (text === null) {
    return odd.some(({ field }) => field === "tx_id") ? "" : null;
  }
  return isVisible(text) ? text : "";
}

/**
 * How a reading states the transaction: not at all in the earlier form of the
 * service's answers.
 */
export function statedTransactionForm(
  { erasedTx, network, txId }: Pick<
    OrderReading,
    "erasedTx" | "network" | "txId"
  >,
): TransactionForm | "unstated" {
  if (erasedTx !== null) return erasedTx;
  return txId === null ? "unstated" : transactionForm(network || null, txId);
}

type Filled = { -readonly [Name in keyof OrderReading]: OrderReading[Name] };

/**
 * An empty object to copy and fill, which is as fast as one with all fields at
 * once.
 */
export const unread: OrderReading = {
  ...emptyRecord(ORDER_FIELD_NAMES),
  digest: "",
  readAt: "",
  status: "",
  changedAt: "",
  createdAt: "",
  statedChangedAt: null,
  statedCreatedAt: null,
  odd: [],
  match: null,
  erasedTx: null,
};

/** Fields that are kept as stated, and where the service states them. */
const STATED = ORDER_FIELD_NAMES.map((name) =>
  [name, ORDER_FIELDS[name].wire] as const
).filter(([, wire]) => wire !== "crypto");

/** A saved card, without its number. */
export interface UserCard {
  /** Method it belongs to, for example `bank_card`. */
  readonly method: string | null;
  /** Identifier of the card. */
  readonly cardId: string | null;
  /** Brand. */
  readonly brand: string | null;
  /** Last digits of its number. */
  readonly lastDigits: string | null;
  /** When it was saved, UTC ISO 8601. */
  readonly createdAt: string | null;
}

/** What a user may still spend and has spent: USD, decimal strings. */
export interface UserSpending {
  /** Remaining crypto limit; zero while verification is not a success. */
  readonly cryptoRemaining: string | null;
  /** Spent from the current crypto limits. */
  readonly cryptoSpending: string | null;
  /** Remaining NFT limit; zero while verification is not a success. */
  readonly digitalGoodsRemaining: string | null;
  /** Spent from the current NFT limits. */
  readonly digitalGoodsSpending: string | null;
}

/** What the users endpoint says of a user, besides the verification. */
export interface UserProfile {
  /** Country of the verification, ISO alpha-3. */
  readonly country: string | null;
  /** Masked phone number. */
  readonly phone: string | null;
  /** Country of the phone, ISO alpha-2. */
  readonly phoneCountry: string | null;
  /** Whether the service banned the user; null when never read. */
  readonly banned: boolean | null;
  /** Creation time as the service states it, UTC ISO 8601. */
  readonly createdAt: string | null;
  /** Spending limits by the latest reading. */
  readonly limits: UserSpending | null;
  /** Saved cards by the latest reading, in the service's order. */
  readonly cards: readonly UserCard[];
}

/** What a reading of the users endpoint says. */
export interface UserReading extends UserProfile {
  readonly digest: string;
  readonly readAt: string;
  readonly lkyc: string | null;
  readonly fkyc: string | null;
  readonly odd: readonly OddField[];
}

type Row = Readonly<Record<string, unknown>>;

/** The fields of a reading in one of the tables. */
type Read<Table extends UserFieldTable> = {
  -readonly [Name in keyof Table]: Table[Name]["shape"] extends "boolean"
    ? boolean | null
    : string | null;
};

/** Reads the fields of a table, in the order of its rows. */
function reader<const Table extends UserFieldTable>(table: Table) {
  const read = recordBy(Object.keys(table));
  return (row: Row) =>
    read((name) => table[name] && fieldOf(table[name], row)) as Read<Table>;
}

function fieldOf(
  { wire, shape, form }: UserFieldTable[string],
  { [wire]: value }: Row,
): string | boolean | null {
  if (shape === "boolean") return typeof value === "boolean" ? value : null;
  const text = filledText(value);
  if (form === "time") return normaliseTime(text);
  return form === "upper" ? upper(text) : text;
}

const readFields = reader(USER_FIELDS);
const readLimits = reader(LIMIT_FIELDS);
const readCard = reader(CARD_FIELDS);

/** The profile of a user who was never read. */
export const NO_PROFILE: UserProfile = profileOf({
  ...readFields({}),
  limits: null,
  cards: [],
});

/**
 * The part of a reading that readers see, in the order in which it is printed.
 */
export function profileOf(read: UserProfile): UserProfile {
  const { country, phone, phoneCountry, banned, createdAt, limits, cards } =
    read;
  return { country, phone, phoneCountry, banned, createdAt, limits, cards };
}

/**
 * Normalises a user of the Data API; null where a body is no object. Numbers are
 * exact decimal strings, and odd fields are left out.
 *
 * Source: service interface, "User (Data API)".
 */
export function readUser(event: RecordedEvent): UserReading | null {
  const found = soundRow(event.body, readUserRow);
  if (found === null) return null;
  const { row: user, odd } = found;
  const limits = objectOf(user.limits);
  return {
    digest: event.digest,
    readAt: effectiveReadAt(event.readAt, event.recordedAt),
    ...readFields(user),
    limits: limits === null ? null : readLimits(limits),
    cards: readCards(user.linked_payment_methods),
    odd,
  };
}

function readCards(value: unknown): UserReading["cards"] {
  if (!Array.isArray(value)) return [];
  const read: UserCard[] = [];
  for (const entry of value) {
    const method = objectOf(entry);
    if (method === null || !Array.isArray(method.cards)) continue;
    for (const item of method.cards) {
      const card = objectOf(item);
      if (card === null) continue;
      read.push({ method: filledText(method.method), ...readCard(card) });
    }
  }
  return read;
}
