import { type Ledger, type NewEvent, openLedger } from "../../ledger/mod.ts";
import {
  orderAbsent,
  orderContradicted,
  orderSnapshot,
  sessionCreated,
  userSnapshot,
  webhookEvent,
} from "../../ledger/testing/mod.ts";

/** The time that every odd ledger goes by. */
export const ODD_NOW_MS: number = Date.parse("2026-11-20T12:00:00Z");

/** Orders of which each is odd, or usual, in one way. */
export const ODD_ORDERS = {
  success: "01KQSUCCESS000000000000001",
  failed: "01KQFAILED0000000000000001",
  pending: "01KQPENDING000000000000001",
  stuck: "01KQSTUCK00000000000000001",
  forged: "01KQFORGED0000000000000001",
  reversed: "01KQREVERSED00000000000001",
  refund: "01KQREFUND0000000000000001",
  cancelled: "01KQCANCELLED0000000000001",
  mismatch: "01KQMISMATCH00000000000001",
  withoutTransaction: "01KQNOTX000000000000000001",
  sent: "01KQSENT000000000000000001",
  contested: "01KQCONTESTED0000000000001",
  claimed: "01KQCLAIMED000000000000001",
  unknownStatus: "01KQUNKNOWN000000000000001",
} as const;

/** A user who has bought, and one who must repeat the verification. */
export const ODD_USERS = {
  buyer: "01KQUSERBUYER0000000000001",
  retry: "01KQUSERRETRY0000000000001",
} as const;

const salt = new Uint8Array(16).fill(5);

/** Minutes before {@linkcode ODD_NOW_MS}. */
export function minutesAgo(minutes: number): string {
  return new Date(ODD_NOW_MS - minutes * 60_000).toISOString();
}

/** The transaction of an order: 32 bytes made of its id. */
export function transactionOf(orderId: string): string {
  const hex = [...new TextEncoder().encode(orderId)]
    .map((byte) => byte.toString(16)).join("");
  return `0x${hex.slice(0, 64).padEnd(64, "0")}`;
}

/** A reading of an order, `minutes` ago. */
export function oddReading(
  orderId: string,
  status: string,
  minutes: number,
  fields: Readonly<Record<string, unknown>> = {},
): NewEvent {
  return orderSnapshot({
    source: JSON.stringify({
      order_id: orderId,
      status,
      currency: "USD",
      currency_amount: 100.5,
      crypto: "eth.simple.ethereum",
      crypto_amount: 0.031,
      partner_fee: 1.2,
      service_fee: 3.4,
      tx_id: status === "success" ? transactionOf(orderId) : null,
      address: "0xAbCdEf0123456789abcdef0123456789ABCDEF01",
      user_id: ODD_USERS.buyer,
      click_id: `click-${orderId}`,
      external_order_id: orderId.slice(4, 10),
      card_brand: "VISA",
      created_at: minutesAgo(minutes + 60),
      changed_at: minutesAgo(minutes + 1),
      ...fields,
    }),
    readAt: minutesAgo(minutes),
    recordedAt: minutesAgo(minutes),
    salt,
  });
}

let deliveries = 0;

/** A webhook of an order, `minutes` ago. */
export function oddWebhook(
  orderId: string,
  type: string,
  minutes: number,
  fields: Readonly<Record<string, unknown>> = {},
): NewEvent {
  const body = {
    type,
    click_id: `click-${orderId}`,
    order: {
      id: orderId,
      base: "ETH",
      base_amount: "0.031",
      quote: "USD",
      quote_amount: "100.5",
      ...fields,
    },
    user: { user_id: ODD_USERS.buyer },
  };
  return oddDelivery(JSON.stringify(body), minutes);
}

/** A delivery of any bytes, `minutes` ago. */
export function oddDelivery(body: string, minutes: number): NewEvent {
  deliveries++;
  return webhookEvent({
    id: `01KQ${String(deliveries).padStart(22, "0")}`,
    receivedAt: minutesAgo(minutes),
    body: new TextEncoder().encode(body),
  }, salt);
}

/** Events of every order of {@linkcode ODD_ORDERS}. */
export function oddEvents(): NewEvent[] {
  const o = ODD_ORDERS;
  const lost = (orderId: string, minutes: number) => ({
    orderId,
    readAt: minutesAgo(minutes),
    recordedAt: minutesAgo(minutes),
    salt,
  });
  return [
    sessionCreated({
      session: {
        session_id: "session-success",
        flow_type: "simple",
        click_id: `click-${o.success}`,
        reference: "Basket-77",
        currency: "USD",
        currency_amount: "100.5",
      },
      recordedAt: minutesAgo(200),
      salt,
    }),
    oddWebhook(o.success, "payment_started", 130),
    oddWebhook(o.success, "transfer_started", 125),
    oddWebhook(o.success, "order_complete", 120),
    oddReading(o.success, "success", 119),
    oddWebhook(o.failed, "payment_started", 58),
    oddWebhook(o.failed, "order_failed", 56),
    oddReading(o.failed, "failed", 55, { fail_reason: "4002" }),
    oddReading(o.pending, "pending", 20),
    oddReading(o.stuck, "pending", 180),
    oddWebhook(o.forged, "order_complete", 90),
    orderAbsent(lost(o.forged, 85)),
    orderContradicted({
      ...lost(o.forged, 79),
      status: "success",
      upTo: minutesAgo(90),
    }),
    oddReading(o.reversed, "success", 300),
    oddReading(o.reversed, "failed", 240, { changed_at: minutesAgo(241) }),
    oddReading(o.refund, "failed", 400, { fail_reason: "4016" }),
    oddReading(o.cancelled, "cancelled", 410),
    oddReading(o.mismatch, "failed", 420, { fail_reason: "4017" }),
    oddWebhook(o.mismatch, "payment_started", 430, { quote_amount: "99" }),
    oddReading(o.withoutTransaction, "success", 440, { tx_id: "" }),
    oddReading(o.sent, "failed", 450, { tx_id: `0x${"1".repeat(64)}` }),
    oddReading(o.contested, "success", 460),
    oddWebhook(o.contested, "order_failed", 10),
    oddWebhook(o.claimed, "payment_started", 3),
    oddWebhook(o.claimed, "order_complete", 2),
    oddReading(o.unknownStatus, "frozen", 470),
    userSnapshot({
      source: JSON.stringify({
        user_id: ODD_USERS.buyer,
        lkyc_status: "success",
        fkyc_status: "success",
        country: "US",
        created_at: minutesAgo(900),
      }),
      readAt: minutesAgo(119),
      recordedAt: minutesAgo(119),
      salt,
    }),
    userSnapshot({
      source: JSON.stringify({
        user_id: ODD_USERS.retry,
        lkyc_status: "success",
        fkyc_status: "retry",
        country: "DE",
        created_at: minutesAgo(800),
      }),
      readAt: minutesAgo(100),
      recordedAt: minutesAgo(100),
      salt,
    }),
    oddDelivery("no JSON at all <b>", 45),
    oddDelivery('{"type":"never_heard_of","order":{"id":"X"}}', 44),
  ];
}

/** A ledger in memory with these events, folded. */
export async function oddLedger(
  events: readonly NewEvent[] = oddEvents(),
  url: string = ":memory:",
): Promise<Ledger> {
  const ledger = await openLedger({
    url,
    environment: "sandbox",
    worker: false,
    now: () => ODD_NOW_MS,
  });
  await ledger.append(events);
  await ledger.project();
  return ledger;
}
