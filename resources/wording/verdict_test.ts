import assert from "node:assert/strict";
import { failReasons } from "../../core/assets/fail_reason.ts";
import { FAILURES } from "./outcome.ts";
import { describeUserVerdict, userNext } from "./state.ts";

Deno.test("every documented payment error code has its words in a verdict", () => {
  assert.deepEqual(Object.keys(FAILURES).sort(), failReasons.toSorted());
});

Deno.test("userNext() says what to do of every verdict, and first what an anomaly asks for", () => {
  const reversed = [{ kind: "verification_reversed" }] as const;
  const odd = [{ kind: "unreadable_field" }] as const;
  assert.equal(userNext({ code: "verified", by: "lkyc" }, odd), "Nothing.");
  assert.match(
    userNext({ code: "verified", by: "lkyc" }, reversed),
    /^The service took a verification back: ask it/,
  );
  assert.match(userNext({ code: "retry", by: "fkyc" }, []), /documents again/);
  assert.match(
    userNext({
      ...{ code: "under_way", by: "fkyc", state: "initiated" },
      next: "finish_verification",
    }, []),
    /finish the verification/,
  );
});

Deno.test("describeUserVerdict() names the verification and why it failed", () => {
  assert.equal(
    describeUserVerdict({
      code: "failed",
      by: "lkyc",
      rejectReasons: ["LKYC_FAILED_AGE", "LKYC_FAILED_MOOD"],
    }),
    "The light verification failed: The age requirement is not met (light " +
      "verification) and LKYC_FAILED_MOOD.",
  );
  assert.equal(
    describeUserVerdict({ code: "verified", by: "fkyc" }),
    "Verified by the verification with documents: may buy within the limits.",
  );
});

Deno.test("describeUserVerdict() says what the user does next, and whom to wait for", () => {
  assert.equal(
    describeUserVerdict({
      code: "under_way",
      by: "lkyc",
      state: "initiated",
      next: "finish_verification",
    }),
    "The light verification is under way: initiated, and the user must " +
      "finish it.",
  );
  assert.equal(
    describeUserVerdict({
      code: "doubted",
      by: "lkyc",
      state: "success",
      claimed: "failed",
    }),
    "Wait: the light verification is success, a later webhook says failed, " +
      "and the service has not been asked since.",
  );
});
