import type { SandboxClock } from "./clock.ts";
import type { Faults, SandboxCounters } from "./faults.ts";
import type {
  OrderInput,
  OrderStep,
  OrderTruth,
  SandboxOrder,
  StepFacts,
} from "./orders.ts";
import type { DeliveryStatus, DisableRule, SandboxDelivery } from "./sender.ts";
import type { SandboxUser, UserInput, UserStep } from "./users.ts";

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
