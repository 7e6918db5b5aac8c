import { isRecord } from "../guards.ts";
import { isLongText } from "../wire/identifier.ts";
import {
  type Draft,
  identifierText,
  type Json,
  nounOf,
  text,
  unrecognised,
} from "./_fields.ts";
import { readUser } from "./_user_event.ts";
import type {
  OrderEvent,
  PartnerData,
  TestEvent,
  UnrecognisedWebhook,
  WebhookOrder,
} from "./webhook_event.ts";

/** Reads an event about an order. It needs an order with an id. */
export function orderEvent(
  type: OrderEvent["type"],
  stated: string,
  value: Json,
): OrderEvent | UnrecognisedWebhook {
  const order = value.order;
  if (!isRecord(order)) {
    return unrecognised(
      stated,
      `The order of ${type} is ${nounOf(order)}, not an object`,
    );
  }
  const id = order.id;
  if (typeof id !== "string") {
    return unrecognised(
      stated,
      `The order.id of ${type} is ${nounOf(id)}, not a string`,
    );
  }
  if (id === "" || isLongText(id)) {
    return unrecognised(stated, `The order.id of ${type} is ${nounOf(id)}`);
  }
  const event: Draft<OrderEvent> = {
    type,
    click_id: identifierText(value.click_id),
    flavour: null,
    order: readOrder(id, order),
  };
  const session = identifierText(value.hpp_session_id);
  const hasSession = session !== "";
  if (hasSession) event.hpp_session_id = session;
  event.flavour = flavourOf(hasSession, event.order);
  const user = readUser(value.user);
  if (user !== undefined) event.user = user;
  return event;
}

/** An event with both signs, or with neither, does not tell its flavour. */
function flavourOf(
  hasSession: boolean,
  { partner_data }: WebhookOrder,
): OrderEvent["flavour"] {
  const hasPartnerData = partner_data !== undefined;
  if (hasSession === hasPartnerData) return null;
  return hasSession ? "fiatOnramp" : "nftCheckout";
}

/** Reads the event of the Test button. */
export function testEvent(value: Json): TestEvent {
  const event: Draft<TestEvent> = {
    type: "test",
    click_id: identifierText(value.click_id),
    flavour: null,
  };
  const order = value.order;
  if (isRecord(order)) event.order = readOrder(identifierText(order.id), order);
  return event;
}

function readOrder(id: string, value: Json): WebhookOrder {
  const order: Draft<WebhookOrder> = { id };
  const base = value.base;
  if (typeof base === "string") order.base = base;
  const baseAmount = value.base_amount;
  if (typeof baseAmount === "string") order.base_amount = baseAmount;
  const quote = value.quote;
  if (typeof quote === "string") order.quote = quote;
  const quoteAmount = value.quote_amount;
  if (typeof quoteAmount === "string") order.quote_amount = quoteAmount;
  const address = value.address;
  if (typeof address === "string") order.address = address;
  const transaction = value.transaction_id;
  if (typeof transaction === "string" || transaction === null) {
    order.transaction_id = transaction;
  }
  const externalId = value.external_order_id;
  if (typeof externalId === "string" && !isLongText(externalId)) {
    order.external_order_id = externalId;
  }
  const partnerData = value.partner_data;
  if (isRecord(partnerData)) order.partner_data = readPartnerData(partnerData);
  const errorCode = value.error_code;
  // A code of the service's error table may come as a number.
  if (typeof errorCode === "string" || typeof errorCode === "number") {
    order.error_code = String(errorCode);
  }
  return order;
}

function readPartnerData(value: Json): PartnerData {
  return {
    sc_address: text(value.sc_address),
    sc_input_data: text(value.sc_input_data),
  };
}
