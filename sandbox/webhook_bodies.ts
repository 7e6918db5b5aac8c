import { isRecord } from "../core/guards.ts";
import { withPlaces } from "./factory.ts";
import { rejectType } from "./orders_and_users.ts";
import type { SandboxOrder, SandboxUser } from "./sandbox.ts";

/** What a webhook says. */
export type Body = Readonly<Record<string, unknown>> & {
  readonly type: string;
};

/** Click id and session of an event. */
export interface EventPlace {
  readonly clickId?: string | undefined;
  readonly sessionId?: string | null | undefined;
}

/** Types whose order object carries the transaction. */
const WITH_TRANSACTION: readonly string[] = [
  "transfer_started",
  "order_complete",
];

/** Body of an event about an order. */
export function orderBody(
  type: string,
  order: SandboxOrder,
  user: SandboxUser | null,
): Body {
  const isContract = order.scInputData !== null;
  return {
    type,
    click_id: order.clickId,
    // An event of NFT Checkout has `partner_data` and never a session.
    ...(!isContract && sessionOf(order)),
    order: {
      id: order.orderId,
      base: order.commodity.toUpperCase(),
      base_amount: order.cryptoAmount,
      quote: order.currency,
      quote_amount: withPlaces(order.currencyAmount, 2),
      address: order.address,
      transaction_id: WITH_TRANSACTION.includes(type) ? order.txId : null,
      external_order_id: order.externalOrderId,
      ...(isContract && {
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

/** Body of an event about a user. */
export function userBody(
  type: string,
  user: SandboxUser,
  place: EventPlace,
): Body {
  return {
    type,
    click_id: place.clickId ?? "",
    ...sessionOf(place),
    ...(type === "verify_failed" && { reject_type: rejectType(user) }),
    user: userObject(user),
  };
}

/** Body of a step of sending a one-time code. */
export function otpBody(
  user: SandboxUser,
  { clickId = "" }: EventPlace,
  status: string,
): Body {
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
export const TEST_BODY: Body = {
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

function sessionOf({ sessionId }: EventPlace): { hpp_session_id?: string } {
  return sessionId ? { hpp_session_id: sessionId } : {};
}

function userObject({ userId, fkyc, lkyc }: SandboxUser): unknown {
  // A webhook knows no verification that was not initiated.
  const [first, second] = [fkyc, lkyc].map((state) => ({
    state: state === "not initiated" ? "initiated" : state,
  }));
  return {
    user_id: userId,
    verification_status: { fkyc: first, lkyc: second },
  };
}

/**
 * Lays `fields` over `body`, objects into objects; `undefined` removes a
 * field. Any field of a triggered event can be set this way.
 */
export function overlay<Below extends Readonly<Record<string, unknown>>>(
  body: Below,
  fields: Readonly<Record<string, unknown>>,
): Below {
  const out: Record<string, unknown> = { ...body };
  for (const [name, value] of Object.entries(fields)) {
    const below = out[name];
    if (value === undefined) delete out[name];
    else if (isRecord(value) && isRecord(below)) {
      out[name] = overlay(below, value);
    } else out[name] = value;
  }
  return out as Below;
}
