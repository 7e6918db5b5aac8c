import { emptyRecord } from "../../core/guards.ts";
import {
  CARD_FIELDS,
  LIMIT_FIELDS,
  USER_FIELDS,
  type UserFieldTable,
} from "../../core/wire/user_fields.ts";
import type { OddField } from "../../core/wire/page.ts";
import type { RecordedEvent } from "./event.ts";
import { effectiveReadAt } from "./time.ts";
import { filledText, objectOf, upper } from "./fact_text.ts";
import { normaliseTime } from "../../core/time/service_time.ts";

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
  /** Digest of the exact value. */
  readonly digest: string;
  /** Effective time of the reading, UTC ISO 8601. */
  readonly readAt: string;
  /** State of the light verification. */
  readonly lkyc: string | null;
  /** State of the document verification. */
  readonly fkyc: string | null;
  /** Fields that could not be read and are left out, sorted. */
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
function reader<const Table extends UserFieldTable>(
  table: Table,
): (row: Row) => Read<Table> {
  const names = Object.keys(table);
  const empty = emptyRecord(names);
  const reads = Object.values(table).map(
    ({ wire, shape, form }) => (row: Row) =>
      shape === "boolean"
        ? row[wire] === true ? true : row[wire] === false ? false : null
        : form === undefined
        ? filledText(row[wire])
        : form === "upper"
        ? upper(filledText(row[wire]))
        : normaliseTime(filledText(row[wire])),
  );
  return (row) => {
    const made: Record<string, unknown> = { ...empty };
    for (let at = 0; at < names.length; at++) {
      made[names[at] ?? ""] = reads[at]?.(row) ?? null;
    }
    return made as Read<Table>;
  };
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
 * Normalises a user of the Data API, numbers already exact decimal strings and
 * odd fields left out.
 *
 * Source: service interface, "User (Data API)".
 */
export function readUser(
  event: RecordedEvent,
  user: Row,
  odd: readonly OddField[],
): UserReading {
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
