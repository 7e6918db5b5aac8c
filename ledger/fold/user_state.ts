import type { VerificationState } from "../../webhooks/event.ts";
import { describeRejectType } from "../../webhooks/reject_type.ts";
import type { UserReading } from "./fact.ts";
import type { Trust } from "./order_state.ts";
import type { UserFold } from "./user_fold.ts";
import { decideVerification, type UserStatus } from "./user_status.ts";

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

/**
 * What is true of a user, as far as the facts known say. A pure function of
 * the set of events: it holds no counts, no receipt ids, no positions.
 *
 * Source: service interface, "User (Data API)" and "Events".
 */
export interface UserState {
  /** User identifier. */
  readonly userId: string;
  /**
   * `banned` where the service says so, else the better of both verifications,
   * else `unknown`.
   */
  readonly status: UserStatus["status"];
  /**
   * `confirmed` when `status` and all it follows from are the service's own
   * word: a ban, or both verifications.
   */
  readonly trust: Trust;
  /** Why, in one sentence. */
  readonly reason: string;
  /** State of the light (`lkyc`) and the document (`fkyc`) verification. */
  readonly verification: {
    /** State of the light verification; null when nobody stated one. */
    readonly lkyc: VerificationState | null;
    /** State of the document verification; null when nobody stated one. */
    readonly fkyc: VerificationState | null;
  };
  /** How sure each verification is. */
  readonly verificationTrust: {
    /** Trust in the light verification. */
    readonly lkyc: Trust;
    /** Trust in the document verification. */
    readonly fkyc: Trust;
  };
  /**
   * Whether the service should be read to confirm what webhooks claim. That
   * reading is to be recorded even if it says nothing new: only its `read_at`
   * settles the claim.
   */
  readonly needsConfirm: boolean;
  /** Country of the verification, ISO alpha-3. */
  readonly country: string | null;
  /** Masked phone number. */
  readonly phone: string | null;
  /** Country of the phone, ISO alpha-2. */
  readonly phoneCountry: string | null;
  /** Whether the service banned the user; null when never read. */
  readonly banned: boolean | null;
  /** Creation time by the service, UTC ISO 8601. */
  readonly createdAt: string | null;
  /** Spending limits by the latest reading. */
  readonly limits: UserSpending | null;
  /** Saved cards by the latest reading. */
  readonly cards: readonly UserCard[];
  /** Why verifications were rejected, by webhooks, sorted by code. */
  readonly rejectReasons: readonly {
    /** `reject_type` as sent. */
    readonly code: string;
    /** Its meaning where it is documented. */
    readonly meaning: string | null;
  }[];
}

/**
 * Works out the state of a user from what is known.
 *
 * @param fold What is known of the user.
 * @returns The state, with fixed key order.
 *
 * @example A user of whom nothing is known
 * ```ts
 * import { initialUserFold, userState } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * assert.equal(userState(initialUserFold("01USER")).status, "unknown");
 * ```
 */
export function userState(fold: UserFold): UserState {
  const { latest } = fold;
  const status = decideVerification(fold);
  const claimed = status.lkyc.trust === "claimed" ||
    status.fkyc.trust === "claimed";
  return {
    userId: fold.userId,
    status: status.status,
    trust: status.trust,
    reason: userReason(latest, status),
    verification: { lkyc: status.lkyc.state, fkyc: status.fkyc.state },
    verificationTrust: { lkyc: status.lkyc.trust, fkyc: status.fkyc.trust },
    needsConfirm: claimed,
    country: latest?.country ?? null,
    phone: latest?.phone ?? null,
    phoneCountry: latest?.phoneCountry ?? null,
    banned: latest?.banned ?? null,
    createdAt: latest?.createdAt ?? null,
    limits: latest?.limits ?? null,
    cards: latest?.cards ?? [],
    rejectReasons: fold.rejects.map((code) => ({
      code,
      meaning: describeRejectType(code),
    })),
  };
}

function userReason(latest: UserReading | null, status: UserStatus): string {
  if (latest === null) {
    return "The service has not been read yet, webhooks are all there is";
  }
  const claims = [];
  if (status.lkyc.trust === "claimed") {
    claims.push(`light verification ${status.lkyc.state}`);
  }
  if (status.fkyc.trust === "claimed") {
    claims.push(`document verification ${status.fkyc.state}`);
  }
  return claims.length === 0
    ? "The latest reading says so, and no later webhook claims more"
    : `A webhook received after the latest reading claims ${
      claims.join(" and ")
    }`;
}
