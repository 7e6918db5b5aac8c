import type { SandboxClock } from "./clock.ts";
import type { Faults } from "./faults.ts";
import type { SandboxOrder } from "./orders.ts";
import type { DisableRule } from "./sender.ts";

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
   * Most deliveries kept in the log; beyond them the oldest are dropped.
   * @default {100_000}
   */
  readonly logLimit?: number;
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
  /**
   * Requests a second allowed to each endpoint, beyond which 429 is answered;
   * null for no limit.
   * @default {null}
   */
  readonly requestsPerSecond?: number | null;
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
