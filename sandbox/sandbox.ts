import type { UserEventType } from "../core/webhook_event/webhook_event.ts";
import type { OrderStatus, VerificationStatus } from "../core/wire/objects.ts";
import type { SandboxClock } from "./clock.ts";
import type { Faults, SandboxCounters } from "./faults.ts";

/** How a sandbox is set up. */
export interface SandboxOptions {
  /**
   * Decides everything that looks random. On a virtual clock a seed repeats
   * a run exactly; in real time the order of events that race may differ.
   * @default {1}
   */
  readonly seed?: number;
  /**
   * Partner identifier of the widget address.
   * @default {"01SANDBOXPARTNER0000000000"}
   */
  readonly partnerId?: string;
  /**
   * Key that the API asks for.
   * @default {"sandbox-key"}
   */
  readonly apiKey?: string;
  /**
   * The clock that the whole sandbox uses.
   * @default {realClock()}
   */
  readonly clock?: SandboxClock;
  /**
   * Where webhooks go; null sends none.
   * @default {null}
   */
  readonly webhookUrl?: string | null;
  /**
   * What the webhook sender calls.
   * @default {globalThis.fetch}
   */
  readonly fetch?: typeof fetch;
  /**
   * Faults in force from the start.
   * @default {{}}
   */
  readonly faults?: Partial<Faults>;
  /**
   * How failures are retried and when they switch delivery off.
   * @default {"ladder_from_previous"}
   */
  readonly disableRule?: DisableRule;
  /**
   * Which asset table the service has. `sandbox` knows USD only.
   * @default {"sandbox"}
   */
  readonly assets?: "production" | "sandbox";
  /**
   * Which form the orders answer has.
   * @default {"current"}
   */
  readonly orderForm?: OrderForm;
  /**
   * How to spell the type of a cancelled order.
   * @default {"order_cancelled"}
   */
  readonly cancelSpelling?: "order_cancelled" | "order_canceled";
  /**
   * What the service allows the partner.
   * @default {{}}
   */
  readonly partner?: SandboxPartner;
  /**
   * Called with each order when it is created.
   * @default {nothing}
   */
  readonly onOrder?: (order: SandboxOrder) => void;
}

/**
 * The two forms that the answer of the orders endpoint has had. The earlier one
 * has fewer fields in a row, and no cursor.
 */
export type OrderForm = "current" | "earlier";

/** What the service allows the partner. */
export interface SandboxPartner {
  /**
   * Whether users may be created.
   * @default {true}
   */
  readonly userCreation?: boolean;
  /**
   * Whether cards may be registered.
   * @default {true}
   */
  readonly cardRegistration?: boolean;
  /**
   * Whether the partner is blocked from registering cards.
   * @default {false}
   */
  readonly blocked?: boolean;
  /**
   * Cards a user may have.
   * @default {5}
   */
  readonly cardsPerUser?: number;
  /**
   * Whether a locked session may leave out both amounts, as smart-contract
   * partners do.
   * @default {false}
   */
  readonly amountsOptional?: boolean;
  /**
   * Countries no user may live in, ISO alpha-3.
   * @default {["CUB", "IRN", "PRK", "SYR"]}
   */
  readonly restrictedCountries?: readonly string[];
  /**
   * States of the USA no user may live in, ISO alpha-2.
   * @default {["NY"]}
   */
  readonly unsupportedStates?: readonly string[];
}

/** An event to send although nothing happened. */
export interface TriggerInput {
  /** Type of the event, documented or not. */
  readonly type: string;
  /**
   * Order it is about; the order object is taken from it. An event of an order
   * that names none is about an invented one.
   */
  readonly orderId?: string;
  /** User it is about; the order's user when left out, or an invented one. */
  readonly userId?: string;
  /** Fields that replace those of the body; `undefined` removes one. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** How many orders to create, and over what time. */
export interface PopulateOptions {
  /** Orders to be created. */
  readonly orders: number;
  /**
   * Time over which they are created, in milliseconds of the clock.
   * @default {an hour}
   */
  readonly spanMs?: number;
  /**
   * Mean time between two steps of an order, in milliseconds of the clock.
   * @default {20_000}
   */
  readonly stepMs?: number;
  /**
   * Share of orders that never leave their first statuses.
   * @default {0.03}
   */
  readonly openShare?: number;
  /**
   * Sells to each customer, and gives what the order of it has.
   *
   * @default {orders that nobody sold}
   */
  readonly sells?: () => Promise<OrderInput>;
}

/** Which orders are written into the past. */
export interface BackfillOptions {
  /** Orders to be created. */
  readonly orders: number;
  /** Creation of the first, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** No order is created at or after this, in ms since the epoch. */
  readonly untilMs: number;
  /**
   * Click id of all of them.
   * @default {one of its own for each}
   */
  readonly clickId?: string;
}

/** The service in a box: its API, its webhooks, its widget, its truth. */
export interface Sandbox extends AsyncDisposable {
  /** Answers a request: the API, the widget, the control page and its API. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The seed that decides everything random. */
  readonly seed: number;
  /** Partner identifier of the widget address. */
  readonly partnerId: string;
  /** Key that the API asks for; no inspection prints it. */
  readonly apiKey: string;
  /** Clock of the sandbox. */
  readonly clock: SandboxClock;
  /** Which asset table the service has. */
  readonly assets: "production" | "sandbox";
  /** Which form the orders answer has; may be changed at any time. */
  orderForm: OrderForm;
  /** What the service allows the partner; may be changed at any time. */
  partner: Required<SandboxPartner>;
  /** The service's own time: the clock's, plus the skew that is set. */
  now(): number;

  /** Every order, oldest first. */
  orders(): SandboxOrder[];
  /** The order with this id, or null. */
  order(orderId: string): SandboxOrder | null;
  /**
   * Creates an order, now or at another time, without a webhook.
   *
   * @param input The values you choose. An order with the `sessionId` of a session
   * of this sandbox, or the click id that its widget was opened with, takes
   * amount, asset, network, wallet, user and click id of it. The seed chooses
   * the rest; its user is made, verified, if there is none.
   * @param atMs Its creation, in milliseconds since the epoch.
   * @throws {TypeError} If an amount is not a plain decimal.
   */
  createOrder(input?: OrderInput, atMs?: number): SandboxOrder;
  /**
   * Lets an order take a step, and sends the webhook of that step.
   *
   * @param facts Transaction, reason of failure or time, if not the seed's.
   * @returns The order afterwards.
   * @throws {RangeError} If there is no such order, or it cannot take the
   * step from where it is.
   */
  advance(
    orderId: string,
    step: OrderStep,
    facts?: Partial<StepFacts>,
  ): SandboxOrder;
  /**
   * Rewrites an order as no documented step would: an unknown status, a status
   * gone backwards, another amount. No webhook is sent.
   *
   * @param change The fields to set; `changedAtMs` is now unless given.
   * @returns The order afterwards.
   * @throws {RangeError} If the order does not exist.
   */
  amendOrder(
    orderId: string,
    change: Partial<Omit<SandboxOrder, "orderId" | "createdAtMs">>,
  ): SandboxOrder;
  /**
   * Removes an order, so that no answer shows it any more.
   *
   * @throws {RangeError} If the order does not exist.
   */
  removeOrder(orderId: string): void;

  /** Every user, oldest first. */
  users(): SandboxUser[];
  /** The user with this id, or null. */
  user(userId: string): SandboxUser | null;
  /**
   * Creates a user, without a webhook.
   *
   * @param input The values you choose; the seed chooses the rest.
   * @param atMs Creation, in milliseconds since the epoch.
   */
  createUser(input?: UserInput, atMs?: number): SandboxUser;
  /**
   * Lets a user take a step, and sends its webhook.
   *
   * @param place Click id and widget session it happens in.
   * @returns The user afterwards.
   * @throws {RangeError} If there is no such user or step.
   */
  advanceUser(
    userId: string,
    step: UserStep,
    place?: { clickId?: string; sessionId?: string | null },
  ): SandboxUser;
  /**
   * Rewrites a user, without a webhook.
   *
   * @throws {RangeError} If the user does not exist.
   */
  amendUser(userId: string, change: UserInput): SandboxUser;

  /** Webhooks so far and their deliveries, oldest first: all, or the latest. */
  deliveries(latest?: number): SandboxDelivery[];
  /** Whether webhooks are being delivered. */
  readonly delivery: DeliveryStatus;
  /** Switches delivery on again, as a person does in the dashboard. */
  enableDelivery(): void;
  /** Sets where webhooks go; null sends none. */
  setWebhookUrl(url: string | null): void;
  /**
   * Sets how failures are retried and when they switch delivery off.
   *
   * @throws {RangeError} If it is not one of the rules.
   */
  setDisableRule(rule: DisableRule): void;
  /**
   * Presses the Test button: one attempt without retries, even while
   * delivery is off.
   */
  pressTest(): Promise<SandboxDelivery>;
  /**
   * Sends an event that did not happen; any field of it can be set.
   *
   * @throws {RangeError} If it names an order or user that is not there.
   */
  trigger(input: TriggerInput): void;

  /** The faults in force. */
  readonly faults: Faults;
  /**
   * Changes the faults in force; those left out stay as they are.
   *
   * @throws {TypeError} If a fault is not known.
   * @throws {RangeError} If a rate is out of range.
   */
  setFaults(change: Partial<Faults>): void;
  /** Switches every fault off. */
  heal(): void;
  /**
   * Names of the fields of an order's or a user's row that faults change; the
   * id's own where the row has none.
   */
  oddFields(id: string): string[];
  /** Whether a fault refuses every search for this id. */
  refuses(id: string): boolean;
  /** What happened so far, counted. */
  readonly counters: Readonly<SandboxCounters>;

  /**
   * Simulates customers who buy for a while, with every kind of outcome.
   * Resolves when the last visit is over; webhooks may still be due.
   */
  populate(options: PopulateOptions): Promise<void>;
  /** Writes finished orders into the past at once, without webhooks. */
  backfill(options: BackfillOptions): void;
  /** What the service says about every order, oldest first. */
  truth(): OrderTruth[];
  /** Resolves when no work is running and no webhook is due. */
  idle(): Promise<void>;
  /** Stops everything: no timer and no request is left. */
  close(): Promise<void>;
}

/** An order as the sandbox has it. */
export interface SandboxOrder {
  /** Unique identifier, a ULID. */
  readonly orderId: string;
  /** Short identifier for people, six characters. */
  readonly externalOrderId: string;
  /** Click id of the widget session; may be empty. */
  readonly clickId: string;
  /** Widget session; null for NFT Checkout. */
  readonly sessionId: string | null;
  /** Who buys. */
  readonly userId: string;
  /** Card used. */
  readonly cardId: string;
  /** Card brand, upper case. */
  readonly cardBrand: string;
  /** Fiat currency, upper case. */
  readonly currency: string;
  /** Amount in `currency`, a decimal string. */
  readonly currencyAmount: string;
  /** Asset code as the asset table writes it. */
  readonly commodity: string;
  /** Network of the asset. */
  readonly network: string;
  /** Middle part of the dotted asset: `simple`, or `sc`. */
  readonly cryptoType: "simple" | "sc";
  /** Amount of the asset, a decimal string. */
  readonly cryptoAmount: string;
  /** Address the asset goes to. */
  readonly address: string;
  /** Address of the smart contract; NFT Checkout only. */
  readonly scAddress: string | null;
  /** Input data of the call; NFT Checkout only. */
  readonly scInputData: string | null;
  /** Fees as decimal strings; null when the answer leaves them out. */
  readonly fees: SandboxFees | null;
  /** Acquirer; null when the answer leaves it out. */
  readonly processedThrough: string | null;
  /** Authentication method of the payment. */
  readonly paymentType: string;
  /** Additional data of the service: any JSON value. */
  readonly additionalData: unknown;
  /** Status; a test may set one that is not documented. */
  readonly status: OrderStatus | (string & Record<never, never>);
  /** Payment error code, or empty. */
  readonly failReason: string;
  /** Text of a failure as webhooks state it, or empty. */
  readonly errorText: string;
  /** Transaction hash, or empty. */
  readonly txId: string;
  /** Whether the transfer was announced. */
  readonly transferStarted: boolean;
  /** Creation, in milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** Last change, in milliseconds since the epoch. */
  readonly changedAtMs: number;
  /** Every status it had and since when, oldest first. */
  readonly history: readonly SandboxStep[];
}

/** Fees of an order; amounts in USD, percents as shares. */
export interface SandboxFees {
  /** The partner's fee in USD. */
  readonly partnerFee: string;
  /** The partner's fee as a share. */
  readonly partnerFeePercent: string;
  /** The service's fee in USD. */
  readonly serviceFee: string;
  /** The service's fee as a share. */
  readonly serviceFeePercent: string;
}

/** One entry of an order's history. */
export interface SandboxStep {
  /** Status taken. */
  readonly status: string;
  /** When, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Fields of a new order that the caller decides; the seed decides the rest. */
export type OrderInput = Partial<
  Omit<SandboxOrder, "orderId" | "createdAtMs" | "changedAtMs" | "history">
>;

/**
 * What can happen to an order:
 *
 * - `pay`: the user pressed Confirm and Pay; it is in progress.
 * - `authorise`: the payment went through; the asset is not sent yet.
 * - `transfer`: the transaction has one confirmation. It may be announced
 *   before or after the order is complete.
 * - `complete`, `fail`, `cancel`: success, failure, cancelled after payment.
 */
export type OrderStep =
  | "pay"
  | "authorise"
  | "transfer"
  | "complete"
  | "fail"
  | "cancel";

/** Facts a step may need. */
export interface StepFacts {
  /** When it happens, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Transaction hash, for `transfer` and `complete`. */
  readonly txId: string;
  /** Payment error code, for `fail`. */
  readonly failReason: string;
  /** Text of the failure, for `fail`. */
  readonly errorText: string;
}

/** What the service would say about an order, in the ledger's own forms. */
export interface OrderTruth extends
  Pick<
    SandboxOrder,
    | ("orderId" | "status" | "currency" | "currencyAmount")
    | ("cryptoAmount" | "txId" | "failReason" | "userId")
  > {
  /** Dotted asset, lower case. */
  readonly crypto: string;
  /** Last change, UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly changedAt: string;
}

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

/** Every rule by which deliveries are switched off. */
export const DISABLE_RULES = [
  "first_failure",
  "ladder_from_first",
  "ladder_from_previous",
] as const;

/**
 * How a failed delivery is retried and when delivery is switched off. The
 * service's documentation can be read in three ways, so there are three rules:
 *
 * - `first_failure`: one failure switches delivery off; nothing is retried.
 * - `ladder_from_first`: retries 5 min, 1, 2, 4 and 8 hours after the first
 *   failure; off when the fifth fails, 8 hours in.
 * - `ladder_from_previous`: each of those waits counts from the failure before
 *   it; off when the fifth fails, 15 hours and 5 minutes in.
 *
 * Source: service interface, "Webhook delivery".
 */
export type DisableRule = (typeof DISABLE_RULES)[number];

/** Why a webhook was sent. */
export type DeliveryCause =
  /** An order or a user took a step. */
  | "life"
  /** A test or a person triggered it. */
  | "triggered"
  /** The Test button was pressed. */
  | "test"
  /** The fault `forge`: the event did not happen. */
  | "forged"
  /** The fault `unknownType`: a type that is not documented. */
  | "unknownType";

/** The state of an event. */
export type DeliveryState =
  /** Waiting for its first attempt, an answer, or a retry. */
  | "pending"
  /** Answered 2xx in time, as far as the service knows. */
  | "received"
  /** No attempt was received and none will follow. */
  | "failed"
  /** Never sent, because of the fault `drop`. */
  | "dropped"
  /** Never sent, because delivery was off or had no address. */
  | "notSent";

/** One webhook of the service, and its delivery. */
export interface SandboxDelivery {
  /** Number of the event, from 1. */
  readonly number: number;
  /** Why it was sent. */
  readonly cause: DeliveryCause;
  /** Its type, documented or not. */
  readonly type: string;
  /** Order it is about, or null. */
  readonly orderId: string | null;
  /** User it is about, or null. */
  readonly userId: string | null;
  /** The body exactly as sent. */
  readonly body: string;
  /** Whether the body was cut short. */
  readonly malformed: boolean;
  /** When it happened, in milliseconds since the epoch. */
  readonly happenedMs: number;
  /** State of its delivery. */
  readonly state: DeliveryState;
  /** Every attempt, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** When the next attempt is due, in milliseconds since the epoch. */
  readonly nextAttemptMs: number | null;
}

/** One attempt to deliver an event. */
export interface DeliveryAttempt {
  /** When it began, in milliseconds since the epoch. */
  readonly atMs: number;
  /** How long the answer took, in milliseconds. */
  readonly tookMs: number;
  /** Status in the service's log; 0 when no answer came in time. */
  readonly status: number;
  /** Whether it is a copy sent outside the retry schedule. */
  readonly copy: boolean;
  /** What really happened, which the service cannot see. */
  readonly truth: {
    /** Whether the request reached the endpoint. */
    readonly reached: boolean;
    /** Status the endpoint answered, in time or not; null when none. */
    readonly answered: number | null;
  };
}

/** Whether webhooks are being delivered. */
export interface DeliveryStatus {
  /** State of delivery. Source: service interface, "Webhook delivery". */
  readonly state: "enabled" | "retrying" | "disabled";
  /** Since when it is off, in milliseconds since the epoch, or null. */
  readonly disabledSinceMs: number | null;
  /** Where webhooks go, or null. */
  readonly webhookUrl: string | null;
  /** The rule in force. */
  readonly disableRule: DisableRule;
}
