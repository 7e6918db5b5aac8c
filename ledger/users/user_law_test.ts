import fc from "fast-check";
import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import {
  at,
  erased,
  orderWebhook,
  redelivered,
  USER,
  userRead,
  userWebhook,
  webhookAt,
} from "../testing/given_facts.ts";
import { activityOf, MAX_OTP_STEPS } from "../orders/order_fold.ts";
import { foldUser } from "../testing/fold_user.ts";
import { packUser, unpackUser } from "../projection/rows.ts";
import type { Fact } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
  userState,
} from "./user_state.ts";

const canonicalOf = (fold: UserFold) => JSON.stringify(userState(fold));

/** What a repeat may not move: all but the claims shown beside the states. */
const movedOf = (fold: UserFold) => ({ ...userState(fold), laterClaims: null });

function otp(minute: number, status: string): RecordedEvent {
  return webhookAt(minute, {
    type: "otp_status",
    user_id: USER,
    click_id: "",
    status,
  });
}

const sorts: readonly RecordedEvent[] = [
  userWebhook(1, "registration", "initiated", "not initiated"),
  userWebhook(2, "verify_success", "success"),
  userWebhook(3, "verify_failed", "failed", null, {
    reject_type: "LKYC_FAILED_AGE",
  }),
  userWebhook(4, "verify_retry", null, "retry"),
  userRead(3, { lkyc_status: "failed", fkyc_status: "not initiated" }),
  userRead(5, { lkyc_status: "success", banned: true }),
  otp(1, "requested"),
  otp(1, "requested"),
  erased(userWebhook(6, "login", "success")),
  userWebhook(7, "login", "frozen", "frozen"),
];

function everyOrder(
  facts: readonly Fact[],
  visit: (fold: UserFold) => void,
): number {
  let folds = 0;
  const walk = (fold: UserFold, rest: readonly Fact[]): void => {
    if (rest.length === 0) return visit(fold);
    rest.forEach((fact, place) => {
      folds++;
      walk(evolveUser(fold, fact), rest.toSpliced(place, 1));
    });
  };
  walk(initialUserFold(USER), facts);
  return folds;
}

Deno.test("evolveUser() gives the same bytes for every order of any seven of ten events", () => {
  let folds = 0;
  for (let left = 0; left < sorts.length; left += 3) {
    const facts = [...sorts, ...sorts].slice(left, left + 7).map(readFact);
    const bytes = packUser(foldUser(USER, facts));
    folds += everyOrder(facts, (fold) => {
      if (packUser(fold) !== bytes) {
        assert.equal(packUser(fold), bytes);
      }
    });
  }
  assert.ok(folds > 50_000, `${folds} folds`);
});

const verification = fc.constantFrom(
  null,
  "not initiated",
  "initiated",
  "progress",
  "retry",
  "failed",
  "success",
  "frozen",
  "\ud800",
);
const minute = fc.integer({ min: 0, max: 40 });
const event = fc.oneof(
  fc.record({
    minute,
    type: fc.constantFrom(
      "registration",
      "login",
      "verify_failed",
      "verify_success",
      "brewed",
    ),
    lkyc: verification,
    fkyc: verification,
    reject: fc.constantFrom(undefined, "LKYC_FAILED_AGE", "odd", ""),
    gone: fc.boolean(),
  }).map(({ minute, type, lkyc, fkyc, reject, gone }) => {
    const event = userWebhook(minute, type, lkyc, fkyc, {
      reject_type: reject,
    });
    return gone ? erased(event) : event;
  }),
  fc.record({
    minute,
    lkyc: verification,
    banned: fc.boolean(),
    createdAt: fc.constantFrom(undefined, "9999-12-31T23:59:59Z", "soon"),
    readAt: fc.constantFrom(
      undefined,
      "2099-01-01T00:00:00.000Z",
      "1970-01-01T00:00:00.000Z",
      at(20),
      "never",
    ),
  }).map(({ minute, lkyc, banned, createdAt, readAt }) => {
    const event = userRead(minute, {
      lkyc_status: lkyc,
      banned,
      created_at: createdAt,
    });
    return { ...event, readAt: readAt ?? event.readAt };
  }),
  fc.tuple(minute, fc.constantFrom("requested", "success")).map(([m, s]) =>
    otp(m, s)
  ),
  minute.map((minute) =>
    orderWebhook(minute, "order_complete", {}, {
      user: {
        user_id: USER,
        verification_status: { lkyc: { state: "retry" } },
      },
    })
  ),
);
const history = fc.array(event, { maxLength: 50, size: "max" });
const keys = fc.array(fc.integer(), { minLength: 50, maxLength: 50 });

function shuffled<T>(items: readonly T[], keys: readonly number[]): T[] {
  return items.map((item, place) => ({ item, key: keys[place] ?? 0, place }))
    .sort((a, b) => a.key - b.key || b.place - a.place)
    .map(({ item }) => item);
}

Deno.test("evolveUser() gives the same bytes for any order and any batches of a long history", () => {
  fc.assert(
    fc.property(history, keys, fc.integer({ min: 1, max: 9 }), (
      events,
      order,
      size,
    ) => {
      const facts = events.map(readFact);
      let fold = initialUserFold(USER);
      shuffled(facts, order).forEach((fact, place) => {
        fold = evolveUser(fold, fact);
        if (place % size === 0) fold = unpackUser(USER, packUser(fold));
      });
      const expected = foldUser(USER, facts);
      assert.equal(packUser(fold), packUser(expected));
      assert.equal(canonicalOf(fold), canonicalOf(expected));
      assert.deepEqual(fold, expected);
    }),
    { numRuns: 300 },
  );
});

Deno.test("evolveUser() gives the same state for late repeats unless a reading lies between", () => {
  fc.assert(
    fc.property(history, keys, (events, order) => {
      const calm = events.filter(({ kind }) => kind === "webhook");
      const repeats = calm.map((event, place) =>
        redelivered(event, 100 + place)
      );
      const all = shuffled([...calm, ...repeats, ...calm], [...order]);
      assert.deepEqual(
        movedOf(foldUser(USER, all.map(readFact))),
        movedOf(foldUser(USER, calm.map(readFact))),
      );
    }),
    { numRuns: 200 },
  );
});

Deno.test("evolveUser() keeps the size flat over 100,000 logins", () => {
  const login = readFact(userWebhook(1, "login", "success"));
  const step = readFact(otp(1, "requested"));
  let fold = initialUserFold(USER);
  const sizes: number[] = [];
  for (let round = 0; round < 10; round++) {
    for (let turn = 0; turn < 10_000; turn++) {
      const recordedAt = at(round * 10_000 + turn);
      fold = evolveUser(fold, { ...login, recordedAt });
      if (turn % 100 === 0 && step.kind === "webhook" && step.otp !== null) {
        const eventId = `OTP${round}-${turn}`;
        fold = evolveUser(fold, {
          ...step,
          recordedAt,
          otp: { ...step.otp, recordedAt, eventId },
        });
      }
    }
    sizes.push(packUser(fold).length);
  }
  const activity = activityOf(fold.activity);
  assert.equal(activity.counts.login, 100_000);
  assert.equal(activity.otp.length, MAX_OTP_STEPS);
  assert.equal(activity.lastLoginAt, at(99_999));
  const [first = 0] = sizes;
  assert.ok(
    sizes.every((size) => size < first + 50 && size < 5_000),
    `${sizes} characters`,
  );
});
