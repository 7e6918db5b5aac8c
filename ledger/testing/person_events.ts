/** Everything that a ledger can hold of one person, and of another one. */
import type { NewEvent } from "../events/event.ts";
import {
  orderSnapshot,
  sessionCreated,
  userSnapshot,
  webhookEvent,
} from "./mint.ts";

const salt = new Uint8Array(16).fill(7);
const utf8 = new TextEncoder();

/** A person, with values that nobody else has. */
export interface Person {
  /** User id. */
  readonly userId: string;
  /** Order ids, which stay. */
  readonly orderIds: readonly string[];
  /** Every value of the person, as bytes may hold it. */
  readonly values: readonly string[];
  /** Events in the order in which they come. */
  readonly events: readonly NewEvent[];
}

/** Makes a person. `name` marks every value. */
export function person(name: string, orders = 2): Person {
  const value = (kind: string) => `${kind}-${name}-SECRET`;
  const userId = value("user");
  const minutes = (minute: number) =>
    new Date(Date.parse("2026-11-20T08:00:00.000Z") + minute * 60_000)
      .toISOString();
  const orderIds = Array.from({ length: orders }, (_, n) => `O-${name}-${n}`);
  const webhook = (id: string, minute: number, body: unknown) =>
    webhookEvent({
      id: `D-${name}-${id}`,
      receivedAt: minutes(minute),
      body: utf8.encode(JSON.stringify(body)),
    }, salt);
  const user = {
    user_id: userId,
    verification_status: {
      lkyc: { state: "success" },
      fkyc: { state: "initiated" },
    },
  };
  const events = [
    webhook("login", 0, {
      type: "login",
      click_id: value("click-login"),
      phone: value("phone"),
      user,
    }),
    userSnapshot({
      source: JSON.stringify({
        user_id: userId,
        country: "DE",
        phone: value("phone"),
        phone_country: "DE",
        lkyc_status: "success",
        fkyc_status: "initiated",
        banned: false,
        linked_payment_methods: [{
          method: "card",
          cards: [{ card_id: value("card"), last_digits: value("digits") }],
        }],
      }),
      readAt: minutes(1),
      recordedAt: minutes(1),
      salt,
    }),
    ...orderIds.flatMap((orderId, n) => {
      const fields = {
        address: value(`wallet${n}`),
        external_order_id: value(`external${n}`),
      };
      const order = {
        id: orderId,
        base: "BTC",
        base_amount: "0.1",
        quote: "USD",
        quote_amount: "10.5",
        transaction_id: value(`tx${n}`),
        ...fields,
      };
      const reading = (status: string, minute: number) =>
        orderSnapshot({
          source: JSON.stringify({
            order_id: orderId,
            status,
            user_id: userId,
            click_id: value(`click${n}`),
            currency: "usd",
            currency_amount: 10.5,
            crypto: "btc.simple.bitcoin",
            crypto_amount: 0.1,
            card_id: value(`card${n}`),
            tx_id: value(`tx${n}`),
            partner_fee: 0.25,
            created_at: minutes(10 * n + 2).slice(0, 19).replace("T", " "),
            changed_at: minutes(minute).slice(0, 19).replace("T", " "),
            ...fields,
          }),
          readAt: minutes(minute),
          recordedAt: minutes(minute),
          salt,
        });
      return [
        sessionCreated({
          session: {
            session_id: value(`session${n}`),
            click_id: value(`click${n}`),
            flow_type: "simple",
            reference: value(`basket${n}`),
            currency: "USD",
            currency_amount: "10.5",
            wallet_address: value(`wallet${n}`),
            ...(n % 2 === 0 ? { user_id: userId } : {}),
          },
          recordedAt: minutes(10 * n + 1),
          salt,
        }),
        webhook(`started${n}`, 10 * n + 3, {
          type: "payment_started",
          click_id: value(`click${n}`),
          hpp_session_id: value(`session${n}`),
          order,
          user,
        }),
        reading("progress", 10 * n + 4),
        webhook(`complete${n}`, 10 * n + 5, {
          type: "order_complete",
          click_id: value(`click${n}`),
          order,
        }),
        reading("success", 10 * n + 6),
        webhook(`click${n}`, 10 * n + 7, {
          type: "new_thing",
          click_id: value(`click${n}`),
          name: value("name"),
        }),
      ];
    }),
  ];
  const numbered = ["wallet", "external", "tx", "card", "click", "session"]
    .concat("basket");
  return {
    userId,
    orderIds,
    values: [
      userId,
      ...["phone", "card", "digits", "name", "click-login"].map(value),
      ...orderIds.flatMap((_, n) => numbered.map((one) => value(`${one}${n}`))),
      // Nothing else may have the mark either.
      `-${name}-SECRET`,
    ],
    events,
  };
}
