import assert from "node:assert/strict";
import { readApiTokens } from "../../core/settings/values.ts";
import { callers } from "./problem.ts";

const READ = "0123456789abcdef";
const OPERATE = "fedcba9876543210";

/** A request with this header. */
const asked = (authorization: string | null) => ({
  headers: new Headers(authorization === null ? {} : { authorization }),
});

Deno.test("callers() says whose token it is, and null for any other", () => {
  const callerOf = callers(
    readApiTokens(
      "RAMPKIT_API_TOKENS",
      `read:${READ},operate@night-shift:${OPERATE}`,
    ),
  );
  assert.deepEqual(callerOf(asked(`Bearer ${READ}`)), {
    name: "read-1",
    scope: "read",
  });
  assert.deepEqual(callerOf(asked(`bearer  ${OPERATE}`)), {
    name: "night-shift",
    scope: "operate",
  });
  for (
    const other of [
      null,
      "",
      "Bearer",
      "Bearer ",
      READ,
      `Basic ${READ}`,
      `Bearer ${READ.slice(1)}`,
      `Bearer ${READ}0`,
      `Bearer ${READ} ${OPERATE}`,
    ]
  ) assert.equal(callerOf(asked(other)), null, String(other));
});

Deno.test("callers() lets everybody read and nobody operate where there are no tokens", () => {
  assert.equal(callers([])(asked(null))?.scope, "read");
  assert.equal(callers([])(asked(`Bearer ${OPERATE}`))?.scope, "read");
});
