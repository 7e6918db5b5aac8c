import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import {
  facts,
  orderWebhook,
  redelivered,
  USER,
  userRead,
  userWebhook,
  webhookAt,
} from "../testing/given_facts.ts";
import { activityOf } from "../orders/order_fold.ts";
import { foldUser } from "../testing/fold_user.ts";
import { type UserState, userState } from "./user_state.ts";
import { verificationRow } from "../machines/machine.ts";

function stateOf(...events: RecordedEvent[]): UserState {
  return userState(foldUser(USER, facts(...events)));
}

function lkyc(...events: RecordedEvent[]): string {
  const state = stateOf(...events);
  return `${state.verification.lkyc} ${state.verificationTrust.lkyc}`;
}

Deno.test("verificationRow() keeps not initiated and initiated apart", () => {
  assert.deepEqual(
    ["not initiated", "initiated", "progress", "retry", "failed", "success"]
      .concat("frozen").map((state) => verificationRow(state).rank),
    [0, 1, 2, 3, 4, 5, 6],
  );
});

Deno.test("userState() confirms the latest snapshot by read_at, then digest", () => {
  assert.equal(
    lkyc(
      userRead(9, { lkyc_status: "failed" }),
      userRead(5, { lkyc_status: "success" }),
    ),
    "failed confirmed",
  );
  const one = userRead(9, { lkyc_status: "failed" });
  const two = userRead(9, { lkyc_status: "retry" });
  const higher = (one.digest ?? "") > (two.digest ?? "") ? "failed" : "retry";
  assert.equal(lkyc(one, two), `${higher} confirmed`);
  assert.equal(lkyc(two, one), `${higher} confirmed`);
});

Deno.test("userState() claims a higher verification received after the snapshot, and asks for a reading", () => {
  const read = userRead(5, { lkyc_status: "retry", fkyc_status: "success" });
  const state = stateOf(read, userWebhook(6, "verify_success", "success"));
  assert.equal(state.verification.lkyc, "success");
  assert.deepEqual(state.verificationTrust, {
    lkyc: "claimed",
    fkyc: "confirmed",
  });
  assert.equal(state.status, "success");
  assert.equal(state.trust, "confirmed", "the document verification decides");
  assert.equal(state.needsConfirm, true);
  assert.deepEqual(state.reason, {
    code: "claim_after_reading",
    lkyc: "success",
    fkyc: null,
  });
});

Deno.test("userState() does not claim what was received before the snapshot", () => {
  const state = stateOf(
    userWebhook(4, "verify_success", "success"),
    userRead(5, { lkyc_status: "retry" }),
  );
  assert.equal(state.verification.lkyc, "retry");
  assert.equal(state.trust, "confirmed");
  assert.equal(state.needsConfirm, false);
});

Deno.test("userState() does not claim what was received at the very time of the reading", () => {
  assert.equal(
    lkyc(
      userWebhook(5, "verify_success", "success"),
      userRead(5, { lkyc_status: "retry" }),
    ),
    "retry confirmed",
  );
});

Deno.test("userState() does not claim a verification that ranks no higher", () => {
  const read = userRead(5, { lkyc_status: "success" });
  assert.equal(
    lkyc(read, userWebhook(6, "login", "success")),
    "success confirmed",
  );
  assert.equal(
    lkyc(read, userWebhook(6, "verify_start", "initiated")),
    "success confirmed",
  );
});

Deno.test("userState() claims the highest verification while nothing was read", () => {
  assert.equal(
    lkyc(
      userWebhook(1, "verify_success", "success"),
      userWebhook(2, "verify_start", "initiated"),
    ),
    "success claimed",
  );
  assert.equal(stateOf().verification.lkyc, null);
  assert.equal(stateOf().status, "unknown");
});

Deno.test("userState() changes by a repeat only when a snapshot lies between", () => {
  const success = userWebhook(4, "verify_success", "success");
  const read = userRead(5, { lkyc_status: "retry" });
  assert.equal(lkyc(success, redelivered(success, 9)), "success claimed");
  assert.equal(lkyc(success, read), "retry confirmed");
  assert.equal(lkyc(success, read, redelivered(success, 9)), "success claimed");
});

Deno.test("userState() takes the verification that an order event carries", () => {
  assert.equal(
    lkyc(orderWebhook(1, "payment_started", {}, {
      user: {
        user_id: USER,
        verification_status: { lkyc: { state: "success" } },
      },
    })),
    "success claimed",
  );
});

Deno.test("userState() shows bans, limits, cards and countries of the latest snapshot", () => {
  const state = stateOf(userRead(5, {
    country: "usa",
    phone: "+1*****00",
    phone_country: "US",
    banned: true,
    created_at: "2026-11-01T10:00:00.123Z",
    lkyc_status: "success",
    limits: { crypto_remaining: "1000.50", crypto_spending: 12 },
    linked_payment_methods: [
      {
        method: "bank_card",
        cards: [{
          brand: "VISA",
          card_id: "C1",
          created_at: "2026-11-02T10:00:00Z",
          last_digits: "4242",
        }, null],
      },
      "odd",
    ],
  }));
  assert.equal(state.status, "banned");
  assert.equal(state.country, "USA");
  assert.equal(state.banned, true);
  assert.equal(state.createdAt, "2026-11-01T10:00:00.123Z");
  assert.deepEqual(state.limits, {
    cryptoRemaining: "1000.50",
    cryptoSpending: "12",
    digitalGoodsRemaining: null,
    digitalGoodsSpending: null,
  });
  assert.deepEqual(state.cards, [{
    method: "bank_card",
    cardId: "C1",
    brand: "VISA",
    lastDigits: "4242",
    createdAt: "2026-11-02T10:00:00Z",
  }]);
});

Deno.test("userState() lists reject reasons once, sorted", () => {
  const rejected = (minute: number, reject_type: string) =>
    userWebhook(minute, "verify_failed", "failed", null, { reject_type });
  const { rejectReasons } = stateOf(
    rejected(1, "odd_reason"),
    rejected(2, "FKYC_FAILED_SPAM"),
    rejected(3, "odd_reason"),
  );
  assert.deepEqual(rejectReasons, [
    "FKYC_FAILED_SPAM",
    "odd_reason",
  ]);
});

Deno.test("userState() shows a lower later claim beside the state, and asks for a reading", () => {
  const read = userRead(5, { lkyc_status: "success", fkyc_status: "retry" });
  const doubted = stateOf(
    read,
    userWebhook(6, "verify_retry", "retry"),
    userWebhook(7, "verify_start", "initiated", "retry"),
  );
  assert.deepEqual(doubted.verification, { lkyc: "success", fkyc: "retry" });
  assert.equal(doubted.verificationTrust.lkyc, "confirmed");
  assert.deepEqual(doubted.laterClaims, { lkyc: "initiated", fkyc: null });
  assert.equal(doubted.needsConfirm, true);
  assert.deepEqual(doubted.reason, {
    code: "lower_claim_after_reading",
    lkyc: "initiated",
    fkyc: null,
  });
  const settled = stateOf(
    read,
    userWebhook(6, "verify_retry", "retry"),
    userRead(8, { lkyc_status: "success", fkyc_status: "retry" }),
  );
  assert.deepEqual(settled.laterClaims, { lkyc: null, fkyc: null });
  assert.equal(settled.needsConfirm, false);
});

Deno.test("userState() shows the claim that came after a higher one", () => {
  const { verification, laterClaims } = stateOf(
    userWebhook(1, "verify_start", "initiated"),
    userWebhook(2, "verify_success", "success"),
    userWebhook(3, "verify_failed", "failed"),
  );
  assert.equal(verification.lkyc, "success");
  assert.equal(laterClaims.lkyc, "failed");
});

Deno.test("userState() raises verification_reversed when the service takes a success back", () => {
  const kinds = (...states: string[]) =>
    stateOf(
      ...states.map((lkyc_status, minute) => userRead(minute, { lkyc_status })),
    ).anomalies;
  assert.deepEqual(kinds("retry", "success", "retry"), [{
    kind: "verification_reversed",
    field: "lkyc",
    read: "retry",
    before: ["success"],
  }]);
  assert.deepEqual(kinds("failed", "initiated", "success"), []);
  assert.equal(kinds("retry", "not initiated").length, 1);
});

Deno.test("decideUserStatus() is banned, else the document verification once it has begun, else the light one", () => {
  const status = (...events: RecordedEvent[]) => {
    const state = stateOf(...events);
    return `${state.status} ${state.trust} ${state.next}`;
  };
  const read = (lkyc_status: string, fkyc_status?: string) =>
    userRead(1, { lkyc_status, fkyc_status });
  assert.equal(status(), "unknown claimed unknown");
  assert.equal(
    status(read("success", "not initiated")),
    "success confirmed none",
  );
  assert.equal(
    status(read("success", "retry")),
    "retry confirmed upload_documents",
  );
  assert.equal(
    status(read("failed", "success")),
    "success confirmed none",
  );
  assert.equal(
    status(
      read("success", "not initiated"),
      userWebhook(2, "verify_start", "success", "initiated"),
    ),
    "initiated claimed finish_verification",
  );
  assert.equal(
    status(
      read("retry", "not initiated"),
      userWebhook(2, "verify_success", "success"),
    ),
    "success claimed none",
  );
  assert.equal(status(read("failed")), "failed confirmed see_reject_reasons");
  assert.equal(status(read("constructor")), "constructor confirmed unknown");
  assert.equal(
    status(
      userRead(1, { lkyc_status: "retry", banned: true }),
      userWebhook(2, "verify_success", "success"),
    ),
    "banned confirmed cannot_buy",
  );
});

Deno.test("activityOf() counts byte-identical steps of one-time codes as two steps", () => {
  const body = {
    type: "otp_status",
    user_id: USER,
    click_id: "",
    status: "requested",
    phone_country_code: "us",
  };
  const fold = foldUser(
    USER,
    facts(webhookAt(1, body), webhookAt(2, body)),
  );
  const activity = activityOf(fold.activity);
  assert.deepEqual(
    activity.otp.map(({ status, phoneCountry }) => [status, phoneCountry]),
    [["requested", "US"], ["requested", "US"]],
  );
  const [step] = facts(webhookAt(4, body));
  assert.ok(step !== undefined);
  const twice = foldUser(USER, [step, step]).activity;
  assert.equal(twice.otp.length, 1, "one event is one step");
  assert.equal(activity.counts.otp_status, 2);
  assert.equal(activity.events, 2);
});
