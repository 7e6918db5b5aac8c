/** Readings and webhooks of orders over months, for tests of the books. */
import type { NewEvent } from "../events/event.ts";
import { orderSnapshot, webhookEvent } from "./mint.ts";

const salt = new Uint8Array(16).fill(7);

/** What a reading says; what is left out is that of a usual order. */
export interface MonthReading {
  /** The order. @default "O1" */
  readonly order?: string;
  /** Status. @default "success" */
  readonly status?: string;
  /** When the ledger recorded it: `2026-11-20T10:00:00Z`. */
  readonly at: string;
  /** When the service created it. @default an hour before `at` */
  readonly created?: string;
  /** When the service changed it. @default a minute before `at` */
  readonly changed?: string;
  /** Fields as JSON text, which keeps every digit; beside or for the usual. */
  readonly fields?: Readonly<Record<string, string | undefined>>;
}

/** A reading of an order. */
export function monthReading(reading: MonthReading): NewEvent {
  const atMs = Date.parse(reading.at);
  const before = (ms: number) => new Date(atMs - ms).toISOString();
  const fields: Record<string, string | undefined> = {
    order_id: JSON.stringify(reading.order ?? "O1"),
    status: JSON.stringify(reading.status ?? "success"),
    currency: `"usd"`,
    currency_amount: "30.10",
    crypto: `"eth.simple.ethereum"`,
    crypto_amount: "0.012300000000000001",
    partner_fee: "0.30",
    service_fee: "1.05",
    tx_id: `"0x${"aa".repeat(32)}"`,
    user_id: `"U-PERSON"`,
    click_id: `"C-PERSON"`,
    external_order_id: `"X-PERSON"`,
    address: `"0xPERSON"`,
    created_at: JSON.stringify(reading.created ?? before(3_600_000)),
    changed_at: JSON.stringify(reading.changed ?? before(60_000)),
    ...reading.fields,
  };
  const stated = Object.entries(fields).filter(([, text]) =>
    text !== undefined
  );
  const recordedAt = new Date(atMs).toISOString();
  return orderSnapshot({
    source: `{${stated.map(([name, text]) => `"${name}":${text}`).join(",")}}`,
    readAt: recordedAt,
    recordedAt,
    salt,
  });
}

/** A webhook that claims success. */
export function monthClaim(order: string, at: string): NewEvent {
  const amounts = {
    base: "ETH",
    base_amount: "9",
    quote: "USD",
    quote_amount: "99",
  };
  const body = { type: "order_complete", order: { id: order, ...amounts } };
  return webhookEvent({
    id: `W-${order}-${at}`,
    receivedAt: new Date(Date.parse(at)).toISOString(),
    body: new TextEncoder().encode(JSON.stringify(body)),
  }, salt);
}
