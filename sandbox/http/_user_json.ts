import type { SandboxUser } from "../engine/sandbox_user.ts";
import { decimalOf, withPlaces } from "../seeded/decimals.ts";
import { userTime } from "../seeded/times.ts";

/** What a verified user may spend in all, in US cents. */
const LIMIT_CENTS = 1_000_000n;

/** A user as the users endpoint writes it. */
export function userJson(user: SandboxUser): Record<string, unknown> {
  const verified = user.lkyc === "success" && !user.banned;
  return {
    user_id: user.userId,
    country: user.country,
    phone: maskedPhone(user.phone),
    phone_country: user.phoneCountry,
    lkyc_status: user.lkyc,
    fkyc_status: user.fkyc,
    banned: user.banned,
    created_at: userTime(user.createdAtMs),
    limits: {
      crypto_remaining: usd(verified ? LIMIT_CENTS - user.spentCents : 0n),
      crypto_spending: usd(user.spentCents),
      digital_goods_remaining: usd(
        verified ? LIMIT_CENTS - user.goodsSpentCents : 0n,
      ),
      digital_goods_spending: usd(user.goodsSpentCents),
    },
    linked_payment_methods: user.cards.length === 0 ? [] : [{
      method: "bank_card",
      cards: user.cards.map((card) => ({
        brand: card.brand,
        card_id: card.cardId,
        created_at: userTime(card.createdAtMs),
        last_digits: card.lastDigits,
      })),
    }],
  };
}

/** The first two and last two digits of a phone number. */
function maskedPhone(phone: string): string {
  return phone.slice(0, 3) + "*".repeat(Math.max(0, phone.length - 5)) +
    phone.slice(-2);
}

function usd(cents: bigint): string {
  return withPlaces(decimalOf(cents < 0n ? 0n : cents, 2), 2);
}
