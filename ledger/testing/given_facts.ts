// Facts for tests of the rules, minted as the ledger mints them.
import {
  type ChainReadingBody,
  type HandOutcome,
  type OrderExpectedBody,
  type RecordedEvent,
  type SessionCreatedBody,
  witnessRuleBody,
} from "../events/event.ts";
import {
  chainReading,
  orderAbsent,
  orderContradicted,
  orderExpected,
  orderReleased,
  orderSnapshot,
  sessionCreated,
  userSnapshot,
  webhookEvent,
  witnessRequired,
} from "./mint.ts";
import type { Fact } from "../events/fact.ts";
import type { WitnessRule } from "../../core/chain/verdict.ts";
import { readFact } from "../events/read_fact.ts";

export const ORDER = "01HZORDER";
export const USER = "01HZUSER";
/** An address. */
export const ADDRESS = `0x${"ab".repeat(20)}`;
/** A transaction. */
export const TX = `0x${"71".repeat(32)}`;
/** Another one. */
export const TX2 = `0x${"72".repeat(32)}`;

const salt = new Uint8Array(16);
const utf8 = new TextEncoder();
let minted = 0;

/** A look at the chain, made at a minute: a final delivery but for `changes`. */
export function chainLook(
  minute: number,
  changes: Partial<ChainReadingBody> = {},
): RecordedEvent {
  minted++;
  return {
    ...chainReading({
      looked: {
        order_id: ORDER,
        network: "ethereum",
        asset: "ETH",
        type: "simple",
        tx_id: TX,
        address: ADDRESS,
        amount: "0.012300000000000001",
        verdict: "delivered",
        arrived: "0.012300000000000001",
        block_hash: "0xb10c",
        block_height: 871_204,
        index: 3,
        confirmations: 14,
        final: true,
        nodes: ["own-1", "own-2"],
        answers: "5a".repeat(32),
        ...changes,
      },
      readAt: at(minute),
      recordedAt: at(minute),
      salt,
    }),
    position: minted,
  };
}

/** That orders wait for the chain from a minute on, or wait no more. */
export function requirement(minute: number, rule: WitnessRule): RecordedEvent {
  minted++;
  return {
    ...witnessRequired({
      required: witnessRuleBody(rule, at(minute)),
      recordedAt: at(minute),
      salt,
    }),
    position: minted,
  };
}

/** Minute `minute` of the day, UTC ISO 8601 with milliseconds. */
export function at(minute: number): string {
  return new Date(Date.UTC(2026, 10, 20, 0, 0) + Math.round(minute * 60_000))
    .toISOString();
}

/** Minute `minute` of the day as the service writes it. */
export function serviceTime(minute: number): string {
  return at(minute).slice(0, 19).replace("T", " ");
}

/** A webhook received at minute `minute`. */
export function webhookAt(minute: number, body: unknown): RecordedEvent {
  return rawWebhookAt(
    minute,
    typeof body === "string" ? body : JSON.stringify(body),
  );
}

/** A delivery of any bytes received at minute `minute`. */
export function rawWebhookAt(
  minute: number,
  body: string | Uint8Array,
): RecordedEvent {
  minted++;
  return {
    ...webhookEvent({
      id: `D${String(minted).padStart(8, "0")}`,
      receivedAt: at(minute),
      body: typeof body === "string" ? utf8.encode(body) : body,
    }, salt),
    position: minted,
  };
}

/** An order event; `order` adds to or overrides its order object. */
export function orderWebhook(
  minute: number,
  type: string,
  order: Readonly<Record<string, unknown>> = {},
  rest: Readonly<Record<string, unknown>> = {},
): RecordedEvent {
  return webhookAt(minute, {
    type,
    click_id: "basket-1",
    order: {
      id: ORDER,
      base: "ETH",
      base_amount: "0.012300000000000001",
      quote: "USD",
      quote_amount: "30.00",
      address: `0x${"aB".repeat(20)}`,
      transaction_id: null,
      external_order_id: "AB12CD",
      ...order,
    },
    ...rest,
  });
}

/** A reading of the order; `order` adds to or overrides the object. */
export function orderRead(
  readMinute: number,
  status: string,
  changedMinute: number | null,
  order: Readonly<Record<string, unknown>> = {},
): RecordedEvent {
  minted++;
  const value: Record<string, unknown> = {
    order_id: ORDER,
    status,
    click_id: "basket-1",
    external_order_id: "AB12CD",
    currency: "usd",
    currency_amount: 30,
    crypto: "eth.simple.ethereum",
    user_id: USER,
    created_at: serviceTime(0),
    changed_at: changedMinute === null ? undefined : serviceTime(changedMinute),
    tx_id: "",
    fail_reason: "",
    address: ADDRESS,
    ...order,
  };
  const amount = order.crypto_amount === undefined
    ? `,"crypto_amount":0.012300000000000001`
    : "";
  return {
    ...orderSnapshot({
      source: JSON.stringify(value).slice(0, -1) + amount + "}",
      readAt: at(readMinute),
      recordedAt: at(readMinute),
      salt,
    }),
    position: minted,
  };
}

/** The order was asked for and not there. */
export function absentRead(readMinute: number): RecordedEvent {
  minted++;
  const event = orderAbsent({
    orderId: ORDER,
    readAt: at(readMinute),
    recordedAt: at(readMinute),
    salt,
  });
  return { ...event, position: minted };
}

/** The service did not agree with a claim last received at `upToMinute`. */
export function contradiction(
  status: string,
  upToMinute: number,
): RecordedEvent {
  minted++;
  const event = orderContradicted({
    orderId: ORDER,
    status,
    upTo: at(upToMinute),
    readAt: at(upToMinute + 10),
    recordedAt: at(upToMinute + 10),
    salt,
  });
  return { ...event, position: minted };
}

/** A session made at minute `minute`. */
export function session(
  minute: number,
  body: Partial<SessionCreatedBody> = {},
): RecordedEvent {
  minted++;
  const event = sessionCreated({
    session: {
      session_id: "session-1",
      flow_type: "simple_full_restrict",
      click_id: "basket-1",
      ...body,
    },
    recordedAt: at(minute),
    salt,
  });
  return { ...event, position: minted };
}

/** What the partner recorded at minute `minute` without a session. */
export function expectation(
  minute: number,
  body: Partial<OrderExpectedBody> = {},
): RecordedEvent {
  minted++;
  const event = orderExpected({
    expected: {
      expectation_id: `E${minted}`,
      click_id: "basket-1",
      ...body,
    },
    recordedAt: at(minute),
    salt,
  });
  return { ...event, position: minted };
}

/** What a person did about the order, recorded at minute `minute`. */
export function handRelease(
  minute: number,
  outcome: HandOutcome,
  reference?: string,
): RecordedEvent {
  minted++;
  const event = orderReleased({
    released: {
      ...{ order_id: ORDER, outcome, by: "Ada", why: "at the counter" },
      ...(reference === undefined ? {} : { for: reference }),
    },
    recordedAt: at(minute),
    salt,
  });
  return { ...event, position: minted };
}

/** A user event. */
export function userWebhook(
  minute: number,
  type: string,
  lkyc: string | null = null,
  fkyc: string | null = null,
  rest: Readonly<Record<string, unknown>> = {},
): RecordedEvent {
  const state = (value: string | null) =>
    value === null ? undefined : { state: value };
  return webhookAt(minute, {
    type,
    click_id: "basket-1",
    user: {
      user_id: USER,
      verification_status: { lkyc: state(lkyc), fkyc: state(fkyc) },
    },
    ...rest,
  });
}

/** A reading of the user. */
export function userRead(
  readMinute: number,
  user: Readonly<Record<string, unknown>> = {},
): RecordedEvent {
  minted++;
  const event = userSnapshot({
    source: JSON.stringify({ user_id: USER, ...user }),
    readAt: at(readMinute),
    recordedAt: at(readMinute),
    salt,
  });
  return { ...event, position: minted };
}

/** The same bytes delivered again at minute `minute`. */
export function redelivered(
  event: RecordedEvent,
  minute: number,
): RecordedEvent {
  minted++;
  return {
    ...event,
    eventId: `D${String(minted).padStart(8, "0")}`,
    recordedAt: at(minute),
    position: minted,
  };
}

/** The event as one is imported that an earlier version had erased. */
export function erased(event: RecordedEvent): RecordedEvent {
  const { kind, type, orderId, userId } = event;
  const left = { type, user: { user_id: userId }, order: { id: orderId } };
  const text = kind === "webhook" ? JSON.stringify(left) : "";
  return { ...event, body: new TextEncoder().encode(text), digest: "" };
}

/** Decodes events. */
export function facts(...events: readonly RecordedEvent[]): Fact[] {
  return events.map(readFact);
}
