import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import {
  erased,
  facts,
  orderWebhook,
  redelivered,
  USER,
  userRead,
  userWebhook,
  webhookAt,
} from "../orders/given_test.ts";
import { userActivityOf } from "../projection/activity_fold.ts";
import { foldUser } from "../explain/as_of.ts";
import { decideUserStatus } from "./user_status.ts";
import { type UserState, userState } from "./user_state.ts";
import { verificationRank } from "./verification_rank.ts";

function stateOf(...events: RecordedEvent[]): UserState {
  return userState(foldUser(USER, facts(...events)));
}

function lkyc(...events: RecordedEvent[]): string {
  const state = stateOf(...events);
  return `${state.verification.lkyc} ${state.verificationTrust.lkyc}`;
}

Deno.test("verificationRank() keeps not initiated and initiated apart", () => {
  assert.deepEqual(
    ["not initiated", "initiated", "progress", "retry", "failed", "success"]
      .concat("frozen").map(verificationRank),
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
  assert.equal(state.trust, "claimed");
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

Deno.test("decideUserStatus() is the better verification, or banned", () => {
  const status = (...events: RecordedEvent[]) => {
    const { status, trust } = decideUserStatus(
      foldUser(USER, facts(...events)),
    );
    return `${status} ${trust}`;
  };
  assert.equal(status(), "unknown claimed");
  assert.equal(
    status(userRead(1, { lkyc_status: "success", fkyc_status: "retry" })),
    "success confirmed",
  );
  assert.equal(
    status(
      userRead(1, { lkyc_status: "failed", fkyc_status: "retry" }),
      userWebhook(2, "verify_success", null, "success"),
    ),
    "success claimed",
  );
  assert.equal(
    status(
      userRead(1, { lkyc_status: "success", fkyc_status: "retry" }),
      userWebhook(2, "verify_failed", null, "failed"),
    ),
    "success claimed",
    "one of both is open",
  );
  assert.equal(
    status(
      userRead(1, { lkyc_status: "retry", banned: true }),
      userWebhook(2, "verify_success", "success"),
    ),
    "banned confirmed",
  );
});

Deno.test("userActivityOf() counts byte-identical steps of one-time codes as two steps", () => {
  const body = {
    type: "otp_status",
    user_id: USER,
    click_id: "",
    status: "requested",
    phone_country_code: "us",
  };
  const fold = foldUser(
    USER,
    facts(webhookAt(1, body), webhookAt(2, body), erased(webhookAt(3, body))),
  );
  const activity = userActivityOf(fold.activity);
  assert.deepEqual(
    activity.otp.map(({ status, phoneCountry }) => [status, phoneCountry]),
    [["requested", "US"], ["requested", "US"]],
  );
  const [step] = facts(webhookAt(4, body));
  assert.ok(step !== undefined);
  const twice = foldUser(USER, [step, step]).activity;
  assert.equal(twice.otp.length, 1, "one event is one step");
  assert.equal(activity.counts.otp_status, 3);
  assert.equal(activity.events, 3);
});
