import type {
  DeliveryCause,
  SandboxDelivery,
  TriggerInput,
} from "./delivery_log.ts";
import type { SandboxCounters } from "../engine/counters.ts";
import type { FaultInjector } from "../faults/fault_injector.ts";
import { seededUlid, withPlaces } from "../seeded/seeded_values.ts";
import type { EntityFactory } from "../engine/entity_factory.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";
import type { SandboxUser } from "../engine/sandbox_user.ts";
import type { UserStepTaken } from "../engine/user_steps.ts";
import type { WebhookSender } from "./webhook_sender.ts";
import { isRecord } from "../../core/guards.ts";

const UNKNOWN_TYPES = [
  "order_refund_started",
  "tx_smart_contract_failed",
  "chargeback_opened",
] as const;

/** Options of {@linkcode WebhookEmitter}. */
export interface WebhookEmitterOptions {
  readonly sender: WebhookSender;
  readonly injector: FaultInjector;
  readonly counters: SandboxCounters;
  readonly factory: EntityFactory;
  readonly cancelSpelling: string;
  /** The service's own time. */
  readonly now: () => number;
}

/** Makes the webhook of each step, and the false ones of the faults. */
export class WebhookEmitter {
  readonly #options: WebhookEmitterOptions;

  constructor(options: WebhookEmitterOptions) {
    this.#options = options;
  }

  /** Sends the webhook of an order's step. */
  order(event: string, order: SandboxOrder, user: SandboxUser | null): void {
    const { injector, counters, cancelSpelling } = this.#options;
    const type = event === "order_cancelled" ? cancelSpelling : event;
    this.#send("life", orderEventBody(type, order, user), order);
    if (injector.strikes("forge")) this.#forge(order, user);
    if (injector.strikes("unknownType")) {
      counters.unknownTypes++;
      const unknown = injector.stream("unknownType.pick").pick(UNKNOWN_TYPES);
      this.#send("unknownType", orderEventBody(unknown, order, user), order);
    }
  }

  /** Sends the webhook of a user's step. */
  user(
    { user, otp, event, more }: UserStepTaken,
    place: { clickId?: string; sessionId?: string | null },
  ): void {
    const { clickId = "", sessionId = null } = place;
    const body = otp
      ? otpEventBody(user, clickId, otp)
      : userEventBody(event, user, { clickId, sessionId }, more);
    this.#send("life", body, { userId: user.userId });
  }

  /** Sends an event that a caller made up. */
  trigger(
    input: TriggerInput,
    order: SandboxOrder | null,
    user: SandboxUser | null,
  ): void {
    const body = bodyOf(input.type, order, user);
    this.#send("triggered", overlay(body, input.fields ?? {}), {
      orderId: order?.orderId,
      userId: user?.userId,
    });
  }

  /** Sends the event of the Test button. */
  test(): Promise<SandboxDelivery> {
    return this.#options.sender.sendOnce({
      cause: "test",
      type: "test",
      orderId: null,
      userId: null,
      body: JSON.stringify(testEventBody()),
    });
  }

  /** Sends a false event, about this order or about one that does not exist. */
  #forge(order: SandboxOrder, user: SandboxUser | null): void {
    const { counters, injector, factory, now, sender } = this.#options;
    counters.forged++;
    const random = injector.stream("forge.body");
    const forged: SandboxOrder = {
      ...order,
      txId: factory.facts(order.network, now()).txId,
      orderId: random.chance(0.5) ? order.orderId : seededUlid(now(), random),
      currencyAmount: String(random.int(1, 9_999)),
    };
    sender.sendOnceLater(random.int(0, 5_000), {
      cause: "forged",
      type: "order_complete",
      orderId: forged.orderId,
      userId: forged.userId,
      body: JSON.stringify(orderEventBody("order_complete", forged, user)),
    });
  }

  #send(
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

/** The body that an event of this type has before its fields are replaced. */
function bodyOf(
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

/** Types whose order object carries the transaction. */
const WITH_TRANSACTION: ReadonlySet<string> = new Set([
  "transfer_started",
  "order_complete",
]);

/** Body of an event about an order. */
export function orderEventBody(
  type: string,
  order: SandboxOrder,
  user: SandboxUser | null,
): Record<string, unknown> {
  return {
    type,
    click_id: order.clickId,
    // An event of NFT Checkout has `partner_data` and never a session.
    ...(order.sessionId !== null && order.scInputData === null &&
      { hpp_session_id: order.sessionId }),
    order: {
      id: order.orderId,
      base: order.commodity.toUpperCase(),
      base_amount: order.cryptoAmount,
      quote: order.currency,
      quote_amount: withPlaces(order.currencyAmount, 2),
      address: order.address,
      transaction_id: WITH_TRANSACTION.has(type) ? order.txId : null,
      external_order_id: order.externalOrderId,
      ...(order.scInputData !== null && {
        partner_data: {
          sc_address: order.scAddress ?? order.address,
          sc_input_data: order.scInputData,
        },
      }),
      ...(type === "order_failed" && { error_code: order.errorText }),
    },
    ...(user && { user: userObject(user) }),
  };
}

/** Click id and session of a user event. */
export interface UserEventPlace {
  readonly clickId: string;
  readonly sessionId: string | null;
}

/** Body of an event about a user; `more` goes before the user object. */
function userEventBody(
  type: string,
  user: SandboxUser,
  place: UserEventPlace,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    type,
    click_id: place.clickId,
    ...(place.sessionId !== null && { hpp_session_id: place.sessionId }),
    ...more,
    user: userObject(user),
  };
}

/** Body of a step of sending a one-time code. */
function otpEventBody(
  user: SandboxUser,
  clickId: string,
  status: "requested" | "success" | "failed",
): Record<string, unknown> {
  return {
    type: "otp_status",
    user_id: user.userId,
    click_id: clickId,
    ...(user.phoneCountry && { phone_country_code: user.phoneCountry }),
    status,
    ...(status === "failed" && {
      status_detail: "SMS provider rejected the message",
    }),
  };
}

/** Body of the event that the Test button sends. */
function testEventBody(): Record<string, unknown> {
  return {
    type: "test",
    click_id: "test_click_id",
    order: {
      id: "",
      base: "ETH",
      base_amount: "0.003",
      quote: "USD",
      quote_amount: "10.00",
      address: "0x0000000000000000000000000000000000000000",
      transaction_id: "",
    },
  };
}

function userObject(user: SandboxUser): Record<string, unknown> {
  return {
    user_id: user.userId,
    verification_status: {
      fkyc: { state: user.fkyc },
      lkyc: { state: user.lkyc },
    },
  };
}

/**
 * Lays `fields` over `body`, objects into objects; `undefined` removes a
 * field. Any field of a triggered event can be set this way.
 */
function overlay(
  body: Record<string, unknown>,
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const out = { ...body };
  for (const [name, value] of Object.entries(fields)) {
    const below = out[name];
    if (value === undefined) delete out[name];
    else if (isRecord(value) && isRecord(below)) {
      out[name] = overlay(below, value);
    } else out[name] = value;
  }
  return out;
}
