/** Events of a small world, and what they must add up to, for tests. */
import fc from "fast-check";
import { type NewEvent, witnessRuleBody } from "../events/event.ts";
import {
  deliveryUnanswered,
  orderAbsent,
  orderContradicted,
  orderExpected,
  orderSnapshot,
  sessionCreated,
  userSnapshot,
  webhookEvent,
  witnessRequired,
} from "./mint.ts";
import { foldOrder } from "./fold_order.ts";
import { activityOf } from "../orders/order_fold.ts";
import { foldUser } from "./fold_user.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import { WITNESS_RULES, type WitnessRule } from "../../core/chain/verdict.ts";
import { orderActivity } from "../orders/order_status.ts";
import { readFact } from "../events/read_fact.ts";
import { orderState } from "../states/order_state.ts";
import { userState } from "../users/user_state.ts";
import type { Driver, ResultSet, Statement } from "../store/database.ts";

const utf8 = new TextEncoder();
const salt = new Uint8Array(16);

/** Minute `minute` of the day all tests take place on, as ISO 8601. */
export function at(minute: number): string {
  return new Date(Date.parse("2026-11-20T08:00:00.000Z") + minute * 60_000)
    .toISOString();
}

/** A delivery of anything. */
export function webhook(id: string, minute: number, body: unknown): NewEvent {
  return webhookEvent({
    id,
    receivedAt: at(minute),
    body: utf8.encode(typeof body === "string" ? body : JSON.stringify(body)),
  }, salt);
}

/** A delivery of an order event. */
export function orderWebhook(
  id: string,
  minute: number,
  order: {
    readonly type: string;
    readonly orderId: string;
    readonly click?: string | null;
    readonly session?: string | null;
    readonly user?: string | null;
    readonly external?: string | null;
    readonly amount?: string;
  },
): NewEvent {
  return webhook(id, minute, {
    type: order.type,
    click_id: order.click ?? "",
    ...(order.session ? { hpp_session_id: order.session } : {}),
    order: {
      id: order.orderId,
      base: "BTC",
      base_amount: "0.1",
      quote: "USD",
      quote_amount: order.amount ?? "10",
      address: "bc1q",
      transaction_id: null,
      ...(order.external ? { external_order_id: order.external } : {}),
    },
    ...(order.user
      ? {
        user: {
          user_id: order.user,
          verification_status: {
            lkyc: { state: "success" },
            fkyc: { state: "initiated" },
          },
        },
      }
      : {}),
  });
}

/** Times as stated, where they are not those of the minutes. */
export interface StatedTimes {
  readonly createdAt?: string;
  readonly changedAt?: string;
  readonly readAt?: string;
}

/** The transaction of a name, in the form of the network. */
export function transaction(name: string, crypto = ".bitcoin"): string {
  const hash = [...utf8.encode(name)].map((byte) => byte.toString(16)).join("")
    .padEnd(64, "0");
  return crypto.endsWith(".bitcoin") ? hash : `0x${hash}`;
}

/** A reading of an order. */
export function orderRead(
  minute: number,
  order: {
    readonly orderId: string;
    readonly status: string;
    readonly changed?: number;
    readonly user?: string;
    readonly click?: string | null;
    readonly external?: string;
    readonly crypto?: string;
    readonly created?: number;
    readonly tx?: string;
  } & StatedTimes,
): NewEvent {
  const service = (time: number) => at(time).slice(0, 19).replace("T", " ");
  return orderSnapshot({
    source: JSON.stringify({
      order_id: order.orderId,
      status: order.status,
      user_id: order.user ?? "U0",
      click_id: order.click ?? "",
      external_order_id: order.external ?? `X${order.orderId}`,
      currency: "usd",
      currency_amount: 10,
      crypto: order.crypto ?? "btc.simple.bitcoin",
      crypto_amount: 0.1,
      created_at: order.createdAt ?? service(order.created ?? 0),
      changed_at: order.changedAt ?? service(order.changed ?? minute),
      tx_id: order.tx ? transaction(order.tx, order.crypto) : "",
    }),
    readAt: order.readAt ?? at(minute),
    recordedAt: at(minute),
    salt,
  });
}

/** A session of the partner. */
export function session(
  minute: number,
  id: string,
  click?: string | null,
  amount = "10",
  reference: string | null = null,
): NewEvent {
  return sessionCreated({
    session: {
      session_id: id,
      flow_type: "simple",
      currency: "USD",
      currency_amount: amount,
      ...(click ? { click_id: click } : {}),
      ...(reference === null ? {} : { reference }),
    },
    recordedAt: at(minute),
    salt,
  });
}

/** What the partner recorded without a session. */
export function expectation(
  id: string,
  minute: number,
  { click, reference, amount, askedAt, validForMs }: {
    readonly click: string;
    readonly reference?: string | null;
    readonly amount?: string;
    /** The minute at which it was asked for. */
    readonly askedAt?: number | null;
    readonly validForMs?: number | undefined;
  },
): NewEvent {
  return orderExpected({
    expected: {
      expectation_id: id,
      click_id: click,
      currency: "USD",
      ...(amount === undefined ? {} : { currency_amount: amount }),
      ...(reference ? { reference } : {}),
      ...(typeof askedAt === "number" ? { asked_at: at(askedAt) } : {}),
      ...(validForMs === undefined ? {} : { valid_for_ms: validForMs }),
    },
    recordedAt: at(minute),
    salt,
  });
}

/** That orders wait for the chain from a minute on, or wait no more. */
export function requirement(
  minute: number,
  rule: WitnessRule,
  from: number = minute,
): NewEvent {
  return witnessRequired({
    required: witnessRuleBody(rule, at(from)),
    recordedAt: at(minute),
    salt,
  });
}

/** Sets of events about a few orders, users, sessions and click ids. */
export function worlds(maxLength = 40): fc.Arbitrary<NewEvent[]> {
  // Times of a service whose clock is wrong, of one whose zone is, and of none.
  const stated: fc.Arbitrary<StatedTimes> = fc.record({
    createdAt: fc.constantFrom("9999-12-31 23:59:59", "2026-11-20 12:00:00"),
    changedAt: fc.constantFrom("2099-01-01 00:00:00", "2026-11-20 11:30:00"),
    readAt: fc.constantFrom("2099-01-01T00:00:00.000Z", "1970-01-01T00:00:00Z"),
  }, { requiredKeys: [] });
  const minute = fc.integer({ min: 0, max: 90 });
  const order = fc.constantFrom("O0", "O1", "O2", "O3", "Ö4");
  const user = fc.constantFrom("U0", "U1", "U2");
  const sessionId = fc.constantFrom("S0", "S1", "S2", "S3");
  const click = fc.constantFrom("C0", "C1", "C2", "test_click_id", null);
  const reference = fc.constantFrom("basket-1", "basket-2", null);
  const status = fc.constantFrom(
    "created",
    "progress",
    "pending",
    "failed",
    "success",
    "cancelled",
    "on hold",
  );
  const made = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        minute,
        type: fc.constantFrom(
          "payment_started",
          "transfer_started",
          "order_complete",
          "order_failed",
          "order_canceled",
        ),
        orderId: order,
        click,
        session: fc.option(sessionId),
        user: fc.option(user),
        external: fc.option(fc.constantFrom("E0", "E1")),
        amount: fc.constantFrom("10", "10.00", "11"),
      }).map((one) => (id: string) => orderWebhook(id, one.minute, one)),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        minute,
        orderId: order,
        status,
        user,
        click,
        created: fc.constantFrom(0, 0, 15, 45),
        stated: fc.oneof(fc.constant<StatedTimes>({}), stated),
      }).map(({ stated, ...one }) => () =>
        orderRead(one.minute, { ...one, ...stated })
      ),
    },
    fc.record({
      minute,
      type: fc.constantFrom("login", "verify_failed", "new_thing"),
      user,
      lkyc: fc.constantFrom("initiated", "success", "failed", "odd"),
    }).map(({ minute, type, user, lkyc }) => (id: string) =>
      webhook(id, minute, {
        type,
        click_id: "",
        reject_type: "LKYC_FAILED_AGE",
        user: {
          user_id: user,
          verification_status: {
            lkyc: { state: lkyc },
            fkyc: { state: "initiated" },
          },
        },
      })
    ),
    fc.record({
      minute,
      user,
      lkyc: fc.constantFrom("success", "failed"),
      stated: fc.oneof(fc.constant<StatedTimes>({}), stated),
    })
      .map(({ minute, user, lkyc, stated }) => () =>
        userSnapshot({
          source: JSON.stringify({
            user_id: user,
            lkyc_status: lkyc,
            fkyc_status: "not initiated",
            banned: false,
            created_at: stated.createdAt ?? at(0),
          }),
          readAt: stated.readAt ?? at(minute),
          recordedAt: at(minute),
          salt,
        })
      ),
    {
      weight: 2,
      arbitrary: fc.record({
        minute,
        sessionId,
        click,
        amount: fc.constantFrom("10", "12"),
        reference,
      }).map(({ minute, sessionId, click, amount, reference }) => () =>
        session(minute, sessionId, click, amount, reference)
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        minute,
        click: fc.constantFrom("C0", "C1"),
        amount: fc.constantFrom("10", "12"),
        reference,
        askedAt: fc.option(minute, { freq: 2 }),
        validForMs: fc.constantFrom(60_000, 600_000, undefined),
      }).map((one) => (id: string) => expectation(id, one.minute, one)),
    },
    fc.record({
      minute,
      rule: fc.constantFrom(...WITNESS_RULES),
      since: minute,
    }).map(({ minute, rule, since }) => () => requirement(minute, rule, since)),
    fc.record({ minute, order }).map(({ minute, order }) => () =>
      orderAbsent({
        orderId: order,
        readAt: at(minute),
        recordedAt: at(minute),
        salt,
      })
    ),
    fc.record({ minute, order, status }).map(
      ({ minute, order, status }) => () =>
        orderContradicted({
          orderId: order,
          status,
          upTo: at(minute),
          readAt: at(minute),
          recordedAt: at(minute),
          salt,
        }),
    ),
    fc.integer({ min: 0, max: 20 }).map((of) => () =>
      deliveryUnanswered({
        unanswered: { id: `W${of}`, noticedAt: at(of), answer: "late" },
        salt,
      })
    ),
    fc.record({ minute, body: fc.constantFrom("", "no", "[]", "{}") }).map(
      ({ minute, body }) => (id: string) => webhook(id, minute, body),
    ),
  );
  return fc.array(made, { maxLength }).map((makers) => {
    const events = makers.map((make, at) => make(`W${at}`));
    // What was read twice is one fact, as in the database.
    return [...new Map(events.map((one) => [one.eventId, one])).values()];
  });
}

/** Canonical states and activities, by `order:<id>` and `user:<id>`. */
export type States = Record<string, { state: string; activity: string }>;

/** Folds events in memory, straight from the definition. */
export function expectedStates(events: readonly NewEvent[]): States {
  const facts = events.map((event) => readFact({ ...event, position: 0 }));
  const states: States = {};
  for (const orderId of new Set(facts.map((fact) => fact.orderId))) {
    if (orderId === null) continue;
    const own = facts.filter((fact) => fact.orderId === orderId);
    const fold = foldOrder(orderId, [
      ...own,
      ...facts.filter((fact) => isExpectation(fact) || isWitnessRule(fact)),
    ]);
    states[`order:${orderId}`] = {
      state: JSON.stringify(orderState(fold, { assets: "sandbox" })),
      activity: JSON.stringify(orderActivity(fold)),
    };
  }
  for (const userId of new Set(facts.map((fact) => fact.userId))) {
    if (userId === null) continue;
    const fold = foldUser(userId, facts);
    states[`user:${userId}`] = {
      state: JSON.stringify(userState(fold)),
      activity: JSON.stringify(activityOf(fold.activity)),
    };
  }
  return states;
}

/** Reads rows of one statement. */
export async function rowsOf(
  driver: Driver,
  sql: string,
  ...args: Statement["args"]
): Promise<ResultSet["rows"]> {
  const [result] = await driver.batch([{ sql, args }], "read");
  return result?.rows ?? [];
}

/** What a dying process last does with its database. */
export class Crash extends Error {}

/** Dies at the n-th write, before it happens or after. */
export function crashingDriver(
  driver: Driver,
  at: number,
  when: "before" | "after",
): Driver & { readonly writes: number } {
  let writes = 0;
  let dead = false;
  return {
    location: driver.location,
    get writes() {
      return writes;
    },
    async batch(statements, mode) {
      if (dead) throw new Crash("dead");
      if (mode === "read") return await driver.batch(statements, mode);
      writes++;
      if (writes === at && when === "before") {
        dead = true;
        throw new Crash(`before write ${at}`);
      }
      const results = await driver.batch(statements, mode);
      if (writes === at) {
        dead = true;
        throw new Crash(`after write ${at}`);
      }
      return results;
    },
    close: () => Promise.resolve(),
  };
}

/** A fold of another version, in which some facts say something else. */
export function foldVersion(
  version: number,
  change: (fact: Fact) => Fact = (fact) => fact,
): {
  readonly version: number;
  readonly readFact: typeof readFact;
} {
  return { version, readFact: (event) => change(readFact(event)) };
}
