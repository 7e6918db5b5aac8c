import { isRecord } from "../../core/guards.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";
import type { SandboxUser } from "../engine/sandbox_user.ts";
import { withPlaces } from "../seeded/seeded_values.ts";

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
export function userEventBody(
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
export function otpEventBody(
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
export function testEventBody(): Record<string, unknown> {
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
export function overlay(
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
