import type { RecordedEvent } from "../event/event.ts";
import type { UserReading } from "./fact.ts";
import { filledText, objectOf, upper } from "./_text.ts";
import { normaliseTime } from "./time.ts";

/**
 * Normalises a user of the Data API, numbers already exact decimal strings.
 *
 * Source: service interface, "User (Data API)".
 */
export function readUser(
  event: RecordedEvent,
  user: Readonly<Record<string, unknown>>,
): UserReading {
  return {
    digest: event.digest ?? "",
    readAt: event.readAt ?? event.recordedAt,
    country: upper(filledText(user.country)),
    phone: filledText(user.phone),
    phoneCountry: upper(filledText(user.phone_country)),
    lkyc: filledText(user.lkyc_status),
    fkyc: filledText(user.fkyc_status),
    banned: typeof user.banned === "boolean" ? user.banned : null,
    createdAt: normaliseTime(filledText(user.created_at)),
    limits: readLimits(user.limits),
    cards: readCards(user.linked_payment_methods),
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
