import assert from "node:assert/strict";
import type { OrderState } from "../states/order_state.ts";
import type { UserState } from "../users/user_state.ts";
import { isCurrent } from "./state_loader.ts";

const order = {
  status: "failed",
  trust: "confirmed",
  release: "no",
} as OrderState;
const user = {
  status: "success",
  trust: "claimed",
  verification: { lkyc: "success", fkyc: "retry" },
  verificationTrust: { lkyc: "confirmed", fkyc: "claimed" },
  banned: false,
} as UserState;

Deno.test("isCurrent() compares the machine that moved, with its trust", () => {
  const entered = (machine: string, trust: string, status: string) =>
    ({ machine, trust, status, logged: null }) as Parameters<
      typeof isCurrent
    >[0];
  const failed = entered("order", "confirmed", "failed");
  assert.equal(isCurrent(failed, order), true);
  assert.equal(isCurrent(entered("order", "claimed", "failed"), order), false);
  assert.equal(
    isCurrent(entered("order", "confirmed", "success"), order),
    false,
  );
  assert.equal(isCurrent(failed, null), false);
  const released = (release: "yes" | "no") => ({
    ...entered("release", "confirmed", "failed"),
    logged: { entered: release, release, reason: "ended" },
  });
  assert.equal(isCurrent(released("no"), order), true);
  assert.equal(isCurrent(released("yes"), order), false);
  assert.equal(isCurrent(entered("fkyc", "claimed", "retry"), user), true);
  assert.equal(isCurrent(entered("fkyc", "confirmed", "retry"), user), false);
  assert.equal(isCurrent(entered("lkyc", "confirmed", "success"), user), true);
  const ban = (status: string) => entered("ban", "confirmed", status);
  assert.equal(isCurrent(ban("not_banned"), user), true);
  assert.equal(isCurrent(ban("banned"), user), false);
  assert.equal(isCurrent(ban("not_banned"), { ...user, banned: null }), false);
});
