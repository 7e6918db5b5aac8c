import type { OddField } from "../../core/wire/odd_field.ts";
import type { RecordedEvent } from "./event.ts";
import { effectiveReadAt } from "./time.ts";
import { filledText, objectOf, upper } from "./fact_text.ts";
import { normaliseTime } from "../../core/time/service_time.ts";

/** What a reading of the users endpoint says. */
export interface UserReading {
  /** Digest of the exact value. */
  readonly digest: string;
  /** Effective time of the reading, UTC ISO 8601. */
  readonly readAt: string;
  /** Country of the verification, ISO alpha-3. */
  readonly country: string | null;
  /** Masked phone number. */
  readonly phone: string | null;
  /** Country of the phone, ISO alpha-2. */
  readonly phoneCountry: string | null;
  /** State of the light verification. */
  readonly lkyc: string | null;
  /** State of the document verification. */
  readonly fkyc: string | null;
  /** Whether the service banned the user; null when not stated. */
  readonly banned: boolean | null;
  /** Creation time, UTC ISO 8601. */
  readonly createdAt: string | null;
  /** Limits in USD, decimal strings. */
  readonly limits: {
    /** Remaining crypto limit. */
    readonly cryptoRemaining: string | null;
    /** Spent from the crypto limit. */
    readonly cryptoSpending: string | null;
    /** Remaining NFT limit. */
    readonly digitalGoodsRemaining: string | null;
    /** Spent from the NFT limit. */
    readonly digitalGoodsSpending: string | null;
  } | null;
  /** Saved cards, in the service's order. */
  readonly cards: readonly {
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
  }[];
  /** Fields that could not be read and are left out, sorted. */
  readonly odd: readonly OddField[];
}

/**
 * Normalises a user of the Data API, numbers already exact decimal strings and
 * odd fields left out.
 *
 * Source: service interface, "User (Data API)".
 */
export function readUser(
  event: RecordedEvent,
  user: Readonly<Record<string, unknown>>,
  odd: readonly OddField[],
): UserReading {
  return {
    digest: event.digest ?? "",
    readAt: effectiveReadAt(event.readAt, event.recordedAt),
    country: upper(filledText(user.country)),
    phone: filledText(user.phone),
    phoneCountry: upper(filledText(user.phone_country)),
    lkyc: filledText(user.lkyc_status),
    fkyc: filledText(user.fkyc_status),
    banned: typeof user.banned === "boolean" ? user.banned : null,
    createdAt: normaliseTime(filledText(user.created_at)),
    limits: readLimits(user.limits),
    cards: readCards(user.linked_payment_methods),
    odd,
  };
}

function readLimits(value: unknown): UserReading["limits"] {
  const limits = objectOf(value);
  return limits === null ? null : {
    cryptoRemaining: filledText(limits.crypto_remaining),
    cryptoSpending: filledText(limits.crypto_spending),
    digitalGoodsRemaining: filledText(limits.digital_goods_remaining),
    digitalGoodsSpending: filledText(limits.digital_goods_spending),
  };
}

function readCards(value: unknown): UserReading["cards"] {
  if (!Array.isArray(value)) return [];
  const read: UserReading["cards"][number][] = [];
  for (const entry of value) {
    const method = objectOf(entry);
    if (method === null || !Array.isArray(method.cards)) continue;
    for (const item of method.cards) {
      const card = objectOf(item);
      if (card === null) continue;
      read.push({
        method: filledText(method.method),
        cardId: filledText(card.card_id),
        brand: filledText(card.brand),
        lastDigits: filledText(card.last_digits),
        createdAt: normaliseTime(filledText(card.created_at)),
      });
    }
  }
  return read;
}
