import type { VerificationStatus } from "../../core/wire/user.ts";

/** A user as the sandbox has it. */
export interface SandboxUser {
  /** Identifier, a ULID. */
  readonly userId: string;
  /** Country of the verification, ISO alpha-3. */
  readonly country: string;
  /** Full phone number; the API only ever shows it masked. */
  readonly phone: string;
  /** Country of the phone, ISO alpha-2; empty when it is not known. */
  readonly phoneCountry: string;
  /** Light verification. */
  readonly lkyc: VerificationStatus;
  /** Document verification. */
  readonly fkyc: VerificationStatus;
  /** Whether the service banned the user. */
  readonly banned: boolean;
  /** Creation, in milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** Whether the partner made this user through the API. */
  readonly createdByPartner: boolean;
  /** Spent on crypto, in US cents. */
  readonly spentCents: bigint;
  /** Spent on digital goods, in US cents. */
  readonly goodsSpentCents: bigint;
  /** Saved cards, without their numbers. */
  readonly cards: readonly SandboxCard[];
}

/** A saved card. */
export interface SandboxCard {
  /** Identifier of the card, a ULID. */
  readonly cardId: string;
  /** Brand, upper case. */
  readonly brand: string;
  /** Last four digits of the number. */
  readonly lastDigits: string;
  /** When it was saved, in milliseconds since the epoch. */
  readonly createdAtMs: number;
}
