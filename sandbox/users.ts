import type {
  RejectType,
  UserEventType,
} from "../core/webhook_event/webhook_event.ts";
import type { VerificationStatus } from "../core/wire/objects.ts";
import { isBefore, type Place, Sorted, Store } from "./store.ts";

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

/** Fields of a new user that the caller decides; the seed decides the rest. */
export type UserInput = Partial<Omit<SandboxUser, "userId" | "createdAtMs">>;

/** Whether the document verification has begun. */
function hasBegun({ fkyc }: SandboxUser): boolean {
  return fkyc !== "not initiated";
}

/**
 * Whether a user may buy: by the document verification once it has begun, else
 * by the light one.
 */
export function canBuy(user: SandboxUser): boolean {
  const active = hasBegun(user) ? user.fkyc : user.lkyc;
  return active === "success" && !user.banned;
}

/**
 * What can happen to a user. Each sends the webhook of the same name;
 * `otp_*` are the steps of sending a one-time code.
 */
export type UserStep =
  | UserEventType
  | "verify_failed"
  | "otp_requested"
  | "otp_success"
  | "otp_failed";

/** What each step changes. */
const STEPS: Readonly<Record<UserStep, Partial<SandboxUser>>> = {
  registration: {},
  login: {},
  logout: {},
  card_added: {},
  verify_start: { lkyc: "initiated" },
  verify_retry: { lkyc: "progress", fkyc: "retry" },
  verify_success: { lkyc: "success" },
  verify_failed: { lkyc: "failed" },
  otp_requested: {},
  otp_success: {},
  otp_failed: {},
};

/** Every step a user can take. */
export const USER_STEPS: readonly UserStep[] = Object.keys(STEPS) as UserStep[];

/** Lets a user take a step; throws where there is no such step. */
export function takeUserStep(
  user: SandboxUser,
  step: UserStep,
  card: SandboxCard,
): SandboxUser {
  if (!Object.hasOwn(STEPS, step)) {
    throw new RangeError(
      `Cannot advance user ${user.userId}: "${step}" is not a step; use ` +
        USER_STEPS.join(", "),
    );
  }
  const change = STEPS[step];
  // What ends the light verification ends one of documents that was begun.
  const ends = step === "verify_success" || step === "verify_failed";
  return {
    ...user,
    ...change,
    ...(ends && hasBegun(user) && { fkyc: change.lkyc ?? user.fkyc }),
    ...(step === "card_added" && { cards: [...user.cards, card] }),
  };
}

/** Why the verification of a user is rejected. */
export function rejectType(user: SandboxUser): RejectType {
  return hasBegun(user) ? "FKYC_FAILED_GENERAL" : "LKYC_FAILED_GENERAL";
}

/** Every user of the service. */
export class UserStore extends Store<SandboxUser> {
  readonly #byPhone = new Map<string, string>();
  /** Users who can buy, so that a visit need not search all users. */
  readonly #buyers = new Sorted<Place>(isBefore);

  constructor() {
    super(
      "user",
      ({ createdAtMs, userId }) => ({ timeMs: createdAtMs, id: userId }),
    );
  }

  get buyerCount(): number {
    return this.#buyers.rows.length;
  }

  /** One of the users who can buy, by place in age. */
  buyer(place: number): SandboxUser | null {
    return this.get(this.#buyers.rows[place]?.id ?? "");
  }

  withPhone(phone: string): SandboxUser | null {
    return this.get(this.#byPhone.get(phone) ?? "");
  }

  override put(user: SandboxUser): void {
    const before = this.get(user.userId);
    if (before === null) this.#byPhone.set(user.phone, user.userId);
    super.put(user);
    const place = { timeMs: user.createdAtMs, id: user.userId };
    const could = before !== null && canBuy(before);
    if (could && !canBuy(user)) this.#buyers.remove(place);
    if (!could && canBuy(user)) this.#buyers.add(place);
  }
}
