import fc from "fast-check";
import assert from "node:assert/strict";
import { defined } from "../../core/guards.ts";
import { CANDIDATES_KEPT, type RecordedEvent } from "../events/event.ts";
import { compareTimes } from "../events/time.ts";
import {
  absentRead,
  at,
  contradiction,
  erased,
  expectation,
  handRelease,
  ORDER,
  orderRead,
  orderWebhook,
  rawWebhookAt,
  redelivered,
  session,
  TX,
  TX2,
  USER,
  webhookAt,
} from "../testing/given_facts.ts";
import { foldOrder } from "../testing/fold_order.ts";
import {
  evolveOrder,
  initialOrderFold,
  isLater,
  type OrderFold,
} from "./order_fold.ts";
import { packOrder, unpackOrder } from "../projection/rows.ts";
import {
  type ExpectationFact,
  type Fact,
  isExpectation,
} from "../events/fact.ts";
import { CANDIDATES_COMPARED, ExpectationPool } from "./expectations.ts";
import { isFinal, isKnown, orderRank } from "../machines/machine.ts";
import { decideOrderStatus } from "./order_status.ts";
import { readFact } from "../events/read_fact.ts";
import { orderState } from "../states/order_state.ts";
import { isThorough, tries } from "../../tests/kit/thorough.ts";

const user = { user: { user_id: USER, verification_status: {} } };

/** One event of every sort that an order can meet. */
const sorts: readonly RecordedEvent[] = [
  orderWebhook(1, "payment_started", {}, { hpp_session_id: "session-1" }),
  orderWebhook(2, "transfer_started", { transaction_id: TX }, user),
  orderWebhook(3, "order_complete", { transaction_id: TX }),
  orderWebhook(4, "order_complete", { transaction_id: TX2 }),
  orderWebhook(5, "order_failed", { error_code: "4004" }),
  orderWebhook(6, "order_canceled"),
  orderRead(2, "progress", 2),
  orderRead(3, "success", 3, { tx_id: TX }),
  orderRead(5, "failed", 4, { fail_reason: "4004" }),
  orderRead(7, "on_hold", 6),
  orderRead(8, "pending", null),
  orderRead(4, "progress", 3, { tx_id: {}, card_brand: ["VISA"] }),
  orderRead(6, "", 5, { crypto_amount: "N/A" }),
  orderRead(9, "", 8),
  absentRead(6),
  contradiction("success", 3),
  session(0, { reference: "R" }),
  erased(orderWebhook(7, "order_complete")),
  webhookAt(8, { type: "brewed", order: { id: ORDER } }),
];

const canonicalOf = (fold: OrderFold) => JSON.stringify(orderState(fold));

/** As the projector does: a fact of the order meets what was expected before it. */
function meet(
  fold: OrderFold,
  fact: Fact,
  before: readonly ExpectationFact[],
): OrderFold {
  const known = withExpected(fact, before);
  if (known.length === 0) return evolveOrder(fold, fact);
  const pool = new ExpectationPool();
  for (const { expectation } of known) pool.add(expectation);
  return pool.join(evolveOrder(fold, fact));
}

function withExpected(
  fact: Fact,
  before: readonly ExpectationFact[],
): readonly ExpectationFact[] {
  return isExpectation(fact) ? [...before, fact] : before;
}

/** Calls `visit` with the fold of every order of `facts`; prefixes are folded once. */
function everyOrder(
  facts: readonly Fact[],
  visit: (fold: OrderFold) => void,
): number {
  let folds = 0;
  const walk = (
    fold: OrderFold,
    rest: readonly Fact[],
    expected: readonly ExpectationFact[],
  ): void => {
    if (rest.length === 0) return visit(fold);
    rest.forEach((fact, place) => {
      folds++;
      walk(
        meet(fold, fact, expected),
        rest.toSpliced(place, 1),
        withExpected(fact, expected),
      );
    });
  };
  walk(initialOrderFold(ORDER), facts, []);
  return folds;
}

function subsets<T>(items: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, place) =>
    subsets(items.slice(place + 1), size - 1).map((rest) => [item, ...rest])
  );
}

const MOST_OF_TWELVE = isThorough ? 5 : 4;

Deno.test(`evolveOrder() gives the same bytes for every order of any ${MOST_OF_TWELVE} of twelve sorts of events`, () => {
  let folds = 0;
  const twelve = sorts.slice(0, 14).toSpliced(9, 2);
  for (const events of subsets(twelve, MOST_OF_TWELVE)) {
    const facts = events.map(readFact);
    const expected = foldOrder(ORDER, facts);
    const bytes = packOrder(expected);
    const canonical = canonicalOf(expected);
    folds += everyOrder(facts, (fold) => {
      if (packOrder(fold) !== bytes) {
        assert.equal(packOrder(fold), bytes);
      }
      if (canonicalOf(fold) !== canonical) {
        assert.equal(canonicalOf(fold), canonical);
      }
    });
  }
  assert.ok(folds > (isThorough ? 250_000 : 30_000), `${folds} folds`);
});

Deno.test("evolveOrder() gives the same bytes for every order of seven events of one order", () => {
  let folds = 0;
  const histories = [
    [0, 1, 2, 6, 7, 12, 13],
    [0, 2, 3, 4, 8, 12, 11],
    [2, 5, 7, 9, 10, 14, 15],
  ];
  for (const places of histories) {
    const facts = sorts.filter((_, place) => places.includes(place))
      .map(readFact);
    const bytes = packOrder(foldOrder(ORDER, facts));
    folds += everyOrder(facts, (fold) => {
      if (packOrder(fold) !== bytes) {
        assert.equal(packOrder(fold), bytes);
      }
    });
  }
  assert.ok(folds > 40_000, `${folds} folds`);
});

const LONGEST_WORD = isThorough ? 7 : 6;

Deno.test(`evolveOrder() gives the same state for every word of up to ${LONGEST_WORD} over five events`, () => {
  // Every sequence in which each event appears at least once: all orders, all repeats.
  const histories = [[0, 2, 7, 12, 13], [1, 4, 8, 3, 11]];
  let words = 0;
  for (const places of histories) {
    const facts = sorts.filter((_, place) => places.includes(place))
      .map(readFact);
    const canonical = canonicalOf(foldOrder(ORDER, facts));
    const complete = (1 << facts.length) - 1;
    const walk = (
      fold: OrderFold,
      seen: number,
      left: number,
      expected: readonly ExpectationFact[],
    ): void => {
      if (seen === complete) {
        words++;
        if (canonicalOf(fold) !== canonical) {
          assert.equal(canonicalOf(fold), canonical);
        }
      }
      if (left === 0) return;
      facts.forEach((fact, place) =>
        walk(
          meet(fold, fact, expected),
          seen | (1 << place),
          left - 1,
          withExpected(fact, expected),
        )
      );
    };
    walk(initialOrderFold(ORDER), 0, LONGEST_WORD, []);
  }
  assert.ok(words > (isThorough ? 30_000 : 3_000), `${words} words`);
});

Deno.test("evolveOrder() gives the same state however often webhooks are delivered again", () => {
  // Redeliveries are events of their own: later, with ids of their own.
  const subsetsOfWebhooks = subsets(sorts.slice(0, 6), isThorough ? 3 : 2);
  let folds = 0;
  for (const webhooks of subsetsOfWebhooks) {
    const events = [...webhooks, ...sorts.slice(7, 9)];
    const canonical = canonicalOf(foldOrder(ORDER, events.map(readFact)));
    const repeats = webhooks.slice(0, 2).map((event, place) =>
      redelivered(event, 500 + place)
    );
    folds += everyOrder([...events, ...repeats].map(readFact), (fold) => {
      if (canonicalOf(fold) !== canonical) {
        assert.equal(canonicalOf(fold), canonical);
      }
    });
  }
  assert.ok(folds > (isThorough ? 200_000 : 20_000), `${folds} folds`);
});

const minute = fc.integer({ min: 0, max: 40 });
const status = fc.constantFrom(
  "created",
  "progress",
  "pending",
  "failed",
  "success",
  "cancelled",
  "on_hold",
  "\ud800odd",
);
const hash = fc.constantFrom("", TX, TX, "0xT2", null);
const amount = fc.constantFrom("1", "1.0", "1.000000000000000001", "2", "x");

const claimEvent = fc.record({
  minute,
  type: fc.constantFrom(
    "payment_started",
    "transfer_started",
    "order_complete",
    "order_failed",
    "order_cancelled",
    "order_canceled",
    "brewed",
    "test",
  ),
  hash,
  amount,
  session: fc.constantFrom(undefined, "session-1", "session-2", "session-3"),
  shape: fc.constantFrom("whole", "erased", "bare", "numeric"),
}).map(({ minute, type, hash, amount, session, shape }) => {
  const event = shape === "bare"
    ? webhookAt(minute, { type, order: { id: ORDER } })
    : orderWebhook(minute, type, {
      transaction_id: hash,
      base_amount: shape === "numeric" ? 1.5 : amount,
    }, { ...user, hpp_session_id: session });
  return shape === "erased" ? erased(event) : event;
});

// Times of a service whose clock is wrong, or whose zone is, or of none.
const oddTime = fc.constantFrom(
  "9999-12-31 23:59:59",
  "2026-11-20 03:10:00",
  "2026-11-20 00:20:00.5",
  "2026-99-99 99:99:99",
  "soon",
);
const oddReadAt = fc.constantFrom(
  "2099-01-01T00:00:00.000Z",
  "1970-01-01T00:00:00.000Z",
  at(11),
  at(21.5),
  "never",
);

const clickOf = fc.constantFrom("basket-1", "basket-1", "basket-2", "");

const readEvent = fc.record({
  minute,
  status,
  changed: fc.option(minute),
  hash,
  amount,
  changedAt: fc.option(oddTime, { freq: 2 }),
  createdAt: fc.option(oddTime, { freq: 2 }),
  readAt: fc.option(oddReadAt, { freq: 2 }),
  click: clickOf,
}).map((one) => {
  const event = orderRead(one.minute, one.status, one.changed, {
    tx_id: one.hash,
    crypto_amount: one.amount,
    click_id: one.click,
    ...(one.changedAt !== null && { changed_at: one.changedAt }),
    ...(one.createdAt !== null && { created_at: one.createdAt }),
  });
  return { ...event, readAt: one.readAt ?? event.readAt };
});

const otherEvent = fc.oneof(
  minute.map((minute) => absentRead(minute)),
  fc.tuple(status, minute).map(([status, minute]) =>
    contradiction(status, minute)
  ),
  fc.record({
    minute,
    session_id: fc.constantFrom("session-1", "session-2", "other"),
    click_id: clickOf,
    currency_amount: amount,
  }).map(({ minute, ...body }) => session(minute, body)),
  minute.map((minute) => rawWebhookAt(minute, "not json")),
  // Two processes may record one at once, with clocks that differ.
  fc.tuple(minute, fc.constantFrom("delivered", "refunded")).map(
    ([minute, outcome]) => handRelease(minute, outcome, "A"),
  ),
);

const expectedEvent = fc.record({
  minute,
  click_id: fc.constantFrom("basket-1", "basket-2"),
  reference: fc.constantFrom("A", "B", undefined),
  currency_amount: amount,
  asked_at: fc.option(minute.map(at), { freq: 2, nil: undefined }),
  valid_for_ms: fc.option(
    minute.map((minutes) => (1 + minutes) * 60_000),
    { freq: 2, nil: undefined },
  ),
}).map(({ minute, ...body }) => expectation(minute, defined(body)));

const history = fc.array(
  fc.oneof(
    { arbitrary: claimEvent, weight: 4 },
    { arbitrary: readEvent, weight: 3 },
    { arbitrary: otherEvent, weight: 2 },
    { arbitrary: expectedEvent, weight: 2 },
  ),
  { maxLength: 60, size: "max" },
);

/** A shuffled copy of `items`, by the given numbers. */
function shuffled<T>(items: readonly T[], keys: readonly number[]): T[] {
  return items.map((item, place) => ({ item, key: keys[place] ?? 0, place }))
    .sort((a, b) => a.key - b.key || b.place - a.place)
    .map(({ item }) => item);
}

const keys = fc.array(fc.integer(), { minLength: 60, maxLength: 60 });

Deno.test("evolveOrder() gives the same bytes for any order and any batches of a long history", () => {
  fc.assert(
    fc.property(history, keys, fc.integer({ min: 1, max: 9 }), (
      events,
      order,
      size,
    ) => {
      const facts = events.map(readFact);
      const expected = foldOrder(ORDER, facts);
      let fold = initialOrderFold(ORDER);
      let known: readonly ExpectationFact[] = [];
      shuffled(facts, order).forEach((fact, place) => {
        fold = meet(fold, fact, known);
        known = withExpected(fact, known);
        // A batch ends: the fold is written and read back.
        if (place % size === 0) fold = unpackOrder(ORDER, packOrder(fold));
      });
      assert.equal(packOrder(fold), packOrder(expected));
      assert.equal(canonicalOf(fold), canonicalOf(expected));
      assert.deepEqual(fold, expected);
    }),
    { numRuns: tries(400) },
  );
});

/** A field name as JSON text, its first letter written as an escape. */
const escapedName = (name: string) =>
  `\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}`;

type Members = Readonly<Record<string, unknown>>;

/** The members of an object in JSON, `name` last and after a `fresh` one. */
function endingIn(members: Members, fresh: string, last: string): string {
  const rest = Object.entries(members).map(([name, value]) =>
    `${JSON.stringify(name)}:${JSON.stringify(value)}`
  );
  return [...rest, `"${fresh}":0`, last].join(",");
}

/**
 * Two objects in JSON: one with the name `name` written with an escape, and one
 * with another name that has a backslash in it. Once V8 has parsed the second,
 * it takes the name in the first for the one in the second.
 */
function misreadable(
  members: Members,
  name: string,
  fresh: string,
): { readonly text: string; readonly poison: string } {
  const { [name]: value, ...others } = members;
  const wrong = JSON.stringify(escapedName(name).slice(0, name.length));
  const last = `"${escapedName(name)}":${JSON.stringify(value)}`;
  return {
    text: `{${endingIn(others, fresh, last)}}`,
    poison: `{${endingIn(others, fresh, `${wrong}:1`)}}`,
  };
}

Deno.test("readFact() and the fold give the same state for the same bytes, whatever was parsed before", () => {
  const claimed = {
    id: ORDER,
    quote: "USD",
    quote_amount: 5,
    transaction_id: TX,
  };
  const read = {
    order_id: ORDER,
    status: "success",
    tx_id: TX,
    currency_amount: 5,
  };
  let runs = 0;
  let misread = 0;
  const ofClaim = fc.constantFrom("id", "quote_amount", "transaction_id");
  const ofReading = fc.constantFrom("status", "tx_id", "currency_amount");
  fc.assert(
    fc.property(ofClaim, ofReading, fc.boolean(), (claim, reading, both) => {
      runs++;
      const order = misreadable(claimed, claim, `fresh${runs}`);
      const row = misreadable(read, reading, `new${runs}`);
      const stateAfter = (parsed: readonly string[]): string => {
        for (const text of parsed) JSON.parse(text);
        const { body } = rawWebhookAt(1, row.text);
        const events = [
          rawWebhookAt(1, `{"type":"order_complete","order":${order.text}}`),
          ...(both ? [{ ...orderRead(2, "success", 2), body }] : []),
        ];
        return canonicalOf(foldOrder(ORDER, events.map(readFact)));
      };
      const poisoned = stateAfter([order.poison, row.poison]);
      if (!Object.hasOwn(JSON.parse(order.text), claim)) misread++;
      const state = JSON.parse(poisoned);
      assert.equal(state.currencyAmount, "5");
      assert.equal(state.txId, TX);
      assert.equal(state.status, "success");
      assert.equal(stateAfter([]), poisoned);
    }),
    { numRuns: 100 },
  );
  assert.equal(misread, runs, "find out how the parser is misled now");
});

Deno.test("evolveOrder() gives the same state when events are folded any number of times", () => {
  fc.assert(
    fc.property(history, keys, (events, order) => {
      const facts = events.map(readFact);
      const again = shuffled([...facts, ...facts], [...order, ...order]);
      assert.equal(
        canonicalOf(foldOrder(ORDER, again)),
        canonicalOf(foldOrder(ORDER, facts)),
      );
    }),
    { numRuns: tries(300) },
  );
});

Deno.test("evolveOrder() gives the same state for late repeats unless a contradiction lies between", () => {
  fc.assert(
    fc.property(history, keys, (events, order) => {
      const calm = events.filter(({ kind }) => kind !== "order_contradicted");
      const repeats = calm.filter(({ kind }) => kind === "webhook").map((
        event,
        place,
      ) => redelivered(event, 100 + place));
      const all = shuffled([...calm, ...repeats], [...order, ...order]);
      assert.equal(
        canonicalOf(foldOrder(ORDER, all.map(readFact))),
        canonicalOf(foldOrder(ORDER, calm.map(readFact))),
      );
    }),
    { numRuns: tries(300) },
  );
});

Deno.test("decideOrderStatus() agrees with the rule read off the whole list of events", () => {
  fc.assert(
    fc.property(history, (events) => {
      const facts = events.map(readFact);
      const got = decideOrderStatus(foldOrder(ORDER, facts));
      assert.deepEqual(
        { status: got.status, trust: got.trust },
        statusFromList(facts),
      );
    }),
    { numRuns: tries(500) },
  );
});

/** The rule again, over the list, with none of the fold's own bookkeeping. */
function statusFromList(facts: readonly Fact[]) {
  const readings = facts.flatMap((fact) =>
    fact.kind === "order_snapshot" ? [fact.reading] : []
  );
  const plausible = readings.filter((one) => one.statedChangedAt === null);
  const ahead = readings.filter((one) => one.statedChangedAt !== null);
  // One that is dated ahead counts while no plausible one was read since.
  const counts =
    ahead.some(({ readAt }) =>
        plausible.every((one) => compareTimes(readAt, one.readAt) > 0)
      )
      ? ahead
      : plausible;
  const latest = counts.toSorted((a, b) => {
    const rank = orderRank(b.status) - orderRank(a.status);
    const read = compareTimes(b.readAt, a.readAt);
    return compareTimes(b.changedAt, a.changedAt) ||
      (a.changedAt === "" ? read || rank : rank || read) ||
      // Of one moment and one rank what they say decides.
      (isLater(a, b) ? -1 : 1);
  })[0];
  const claims = facts.flatMap((fact) =>
    fact.kind === "webhook" && fact.claim !== null
      ? [{ status: fact.claim, at: fact.recordedAt }]
      : []
  );
  const counting = claims.filter((claim) =>
    !readings.some(({ status }) => status === claim.status) &&
    !facts.some((fact) =>
      fact.kind === "order_contradicted" && fact.status === claim.status &&
      claims.filter(({ status }) => status === claim.status)
        .every(({ at }) => at <= fact.upTo)
    )
  ).sort((a, b) => orderRank(b.status) - orderRank(a.status));
  const w = counting[0]?.status;
  if (latest === undefined) return { status: w ?? "created", trust: "claimed" };
  if (isFinal(latest.status) || !isKnown(latest.status)) {
    return { status: latest.status, trust: "confirmed" };
  }
  return w !== undefined && orderRank(w) > orderRank(latest.status)
    ? { status: w, trust: "claimed" }
    : { status: latest.status, trust: "confirmed" };
}

Deno.test("packOrder() stays bounded under any number of differing events", () => {
  let fold = initialOrderFold(ORDER);
  const sizes: number[] = [];
  for (let round = 0; round < 2_000; round++) {
    const events = [
      orderWebhook(round, "order_complete", {
        transaction_id: `0x${round}`,
        address: "a".repeat(20_000),
      }, { hpp_session_id: `session-${round * 7_919 % 10_007}` }),
      orderRead(round, `odd-${round}`, round),
      session(round, {
        session_id: `session-${round}`,
        reference: `basket-${round}`,
      }),
      expectation(round, { click_id: "other", reference: `basket-${round}` }),
    ];
    const facts = events.map(readFact);
    const expected = facts.filter(isExpectation);
    for (const fact of facts) fold = meet(fold, fact, expected);
    if (round === 500 || round === 1_999) {
      sizes.push(packOrder(fold).length);
    }
  }
  const [early = 0, late = 0] = sizes;
  assert.ok(late < 60_000, `${late} characters`);
  assert.ok(Math.abs(late - early) < 2_000, `${early} then ${late} characters`);
  assert.ok(
    fold.expectations.length <=
      Math.max(CANDIDATES_KEPT, 2 * CANDIDATES_COMPARED),
  );
});
