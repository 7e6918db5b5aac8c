import assert from "node:assert/strict";
import { facts, USER, userWebhook } from "../testing/given_facts.ts";
import { foldUser } from "../testing/fold_user.ts";
import {
  initialUserFold,
  nextStep,
  type UserState,
  userState,
  userVerdictOf,
} from "./user_state.ts";

const unknown = userState(initialUserFold("01USER"));
const both = { lkyc: "confirmed", fkyc: "confirmed" } as const;

function verdict(
  lkyc: string | null,
  fkyc: string | null,
  more: Partial<UserState> = {},
): string {
  const status = fkyc === null || fkyc === "not initiated" ? lkyc : fkyc;
  const { code, ...data } = userVerdictOf({
    ...unknown,
    next: nextStep(more.banned ? "banned" : status ?? "unknown"),
    verification: { lkyc, fkyc },
    verificationTrust: both,
    ...more,
  });
  return [code, ...Object.values(data)].join(" ");
}

Deno.test("userVerdictOf() goes by the documents once they have begun", () => {
  assert.equal(verdict(null, null), "nothing_known");
  assert.equal(verdict("not initiated", "not initiated"), "not_begun");
  assert.equal(verdict("success", "not initiated"), "verified lkyc");
  assert.equal(verdict("success", "retry"), "retry fkyc");
  assert.equal(verdict("failed", "success"), "verified fkyc");
  assert.equal(verdict("progress", null), "under_way lkyc progress wait");
});

Deno.test("userVerdictOf() says a ban first, and a claim before what it claims", () => {
  assert.equal(verdict("success", null, { banned: true }), "banned");
  assert.equal(
    verdict("success", null, {
      verificationTrust: { lkyc: "claimed", fkyc: "confirmed" },
    }),
    "not_confirmed lkyc success",
  );
});

Deno.test("userVerdictOf() says what the user does while it is under way", () => {
  assert.equal(
    verdict("success", "initiated"),
    "under_way fkyc initiated finish_verification",
  );
  assert.equal(verdict("paused", null), "under_way lkyc paused unknown");
});

Deno.test("userVerdictOf() tells of a later claim of the verification that decides", () => {
  const doubted = (laterClaims: UserState["laterClaims"]) =>
    verdict("success", "not initiated", { laterClaims });
  assert.equal(
    doubted({ lkyc: "failed", fkyc: null }),
    "doubted lkyc success failed",
  );
  assert.equal(doubted({ lkyc: null, fkyc: "failed" }), "verified lkyc");
});

Deno.test("userVerdictOf() gives the reasons of the verification that failed", () => {
  assert.equal(
    verdict("failed", null, {
      rejectReasons: ["FKYC_FAILED_SPAM", "LKYC_FAILED_AGE"],
    }),
    "failed lkyc LKYC_FAILED_AGE",
  );
});

Deno.test("userVerdictOf() says of a state named banned that a webhook stated what it says of any unknown one", () => {
  const claimed = (state: string) =>
    userState(foldUser(USER, facts(userWebhook(1, "verify_start", state))));
  for (const state of ["banned", "odd"]) {
    assert.equal(claimed(state).next, "unknown");
    assert.deepEqual(userVerdictOf(claimed(state)), {
      ...{ code: "not_confirmed", by: "lkyc", claimed: state },
    });
  }
});
