import type { SandboxClock } from "../clocks/clock.ts";
import type { Faults } from "../faults/faults.ts";
import type { SandboxPartner } from "../engine/partner.ts";
import type { DisableRule } from "../delivery/retry_schedule.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";
import type { OrderForm } from "../faults/odd_rows.ts";

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
