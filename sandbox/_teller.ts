import type {
  DeliveryCause,
  SandboxDelivery,
  TriggerInput,
} from "./deliveries.ts";
import type { SandboxCounters } from "./counters.ts";
import type { Dice } from "./_dice.ts";
import { seededUlid } from "./_ids.ts";
import type { Maker } from "./_maker.ts";
import type { SandboxOrder } from "./sandbox_order.ts";
import type { SandboxUser } from "./sandbox_user.ts";
import type { UserStepTaken } from "./user_life.ts";
import type { WebhookSender } from "./_sender.ts";
import {
  orderEventBody,
  otpEventBody,
  overlay,
  testEventBody,
  userEventBody,
} from "./_webhook_body.ts";

const UNKNOWN_TYPES = [
  "order_refund_started",
  "tx_smart_contract_failed",
  "chargeback_opened",
] as const;

/** What telling needs. */
export interface TellerOptions {
  readonly sender: WebhookSender;
  readonly dice: Dice;
  readonly counters: SandboxCounters;
  readonly maker: Maker;
  readonly cancelSpelling: string;
  /** The service's own time. */
  readonly now: () => number;
}

/** Turns what happened into webhooks, and lets the forger join in. */
export class Teller {
  readonly #options: TellerOptions;

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  /** An order took a step. */
  order(event: string, order: SandboxOrder, user: SandboxUser | null): void {
    const { dice, counters, cancelSpelling } = this.#options;
    const type = event === "order_cancelled" ? cancelSpelling : event;
    this.#tell("life", orderEventBody(type, order, user), order);
    if (dice.strikes("forge")) this.#forge(order, user);
    if (dice.strikes("unknownType")) {
      counters.unknownTypes++;
      const unknown = dice.stream("unknownType.pick").pick(UNKNOWN_TYPES);
      this.#tell("unknownType", orderEventBody(unknown, order, user), order);
    }
  }

  /** A user took a step. */
  user(
    { user, otp, event, more }: UserStepTaken,
    place: { clickId?: string; sessionId?: string | null },
  ): void {
    const { clickId = "", sessionId = null } = place;
    const body = otp
      ? otpEventBody(user, clickId, otp)
      : userEventBody(event, user, { clickId, sessionId }, more);
    this.#tell("life", body, { userId: user.userId });
  }

  /** Somebody wants an event sent. */
  trigger(
    input: TriggerInput,
    order: SandboxOrder | null,
    user: SandboxUser | null,
  ): void {
    const body = triggered(input.type, order, user);
    this.#tell("triggered", overlay(body, input.fields ?? {}), {
      orderId: order?.orderId,
      userId: user?.userId,
    });
  }

  /** The Test button. */
  test(): Promise<SandboxDelivery> {
    return this.#options.sender.sendOnce({
      cause: "test",
      type: "test",
      orderId: null,
      userId: null,
      body: JSON.stringify(testEventBody()),
    });
  }

  /** A false event beside a true one: a lie about it, or about no order. */
  #forge(order: SandboxOrder, user: SandboxUser | null): void {
    const { counters, dice, maker, now, sender } = this.#options;
    counters.forged++;
    const random = dice.stream("forge.body");
    const lie: SandboxOrder = {
      ...order,
      txId: maker.facts(now()).txId,
      orderId: random.chance(0.5) ? order.orderId : seededUlid(now(), random),
      currencyAmount: String(random.int(1, 9_999)),
    };
    sender.sendOnceLater(random.int(0, 5_000), {
      cause: "forged",
      type: "order_complete",
      orderId: lie.orderId,
      userId: lie.userId,
      body: JSON.stringify(orderEventBody("order_complete", lie, user)),
    });
  }

  #tell(
    cause: DeliveryCause,
    body: Record<string, unknown>,
    about: { orderId?: string | undefined; userId?: string | undefined },
  ): void {
    const { counters, sender } = this.#options;
    if (cause === "life") counters.events++;
    sender.send({
      cause,
      type: String(body.type),
      orderId: about.orderId ?? null,
      userId: about.userId ?? null,
      body: JSON.stringify(body),
    });
  }
}

/** The body that an event of this type has by itself. */
function triggered(
  type: string,
  order: SandboxOrder | null,
  user: SandboxUser | null,
): Record<string, unknown> {
  if (type === "test") return testEventBody();
  if (order) return orderEventBody(type, order, user);
  if (!user) return { type, click_id: "" };
  return type === "otp_status"
    ? otpEventBody(user, "", "requested")
    : userEventBody(type, user, { clickId: "", sessionId: null });
}
