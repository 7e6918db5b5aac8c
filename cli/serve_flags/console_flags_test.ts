import assert from "node:assert/strict";
import { knownTokens } from "../../server/api/problem.ts";
import { accessOf } from "./serve_flags.ts";

const tokens = knownTokens([
  { token: "x".repeat(20), name: null, scope: "read" },
]);

Deno.test("accessOf() is open on this machine alone, and elsewhere only with a token", () => {
  for (const host of ["127.0.0.1", "localhost", "::1", "127.8.0.1"]) {
    assert.deepEqual(accessOf({ host }, null), {
      kind: "open",
      operates: false,
    });
  }
  for (const host of ["0.0.0.0", "::", "192.168.1.7", "127.0.0.1.example"]) {
    assert.throws(
      () => accessOf({ host }, null),
      {
        message: `Wrong --host: "${host}" is reached from other machines, ` +
          "and without a token the console opens on this machine alone; set " +
          "RAMPKIT_API_TOKENS=read:TOKEN, or leave --host out",
      },
    );
    assert.equal(accessOf({ host }, tokens).kind, "tokens");
  }
});

Deno.test("accessOf() asks for tokens wherever there are some", () => {
  assert.equal(accessOf({ host: "127.0.0.1" }, tokens).kind, "tokens");
  assert.throws(
    () => accessOf({ host: "127.0.0.1", operate: true }, tokens),
    /^UsageError: Wrong --operate: people sign in, so their tokens decide/,
  );
  assert.deepEqual(accessOf({ host: "127.0.0.1", operate: true }, null), {
    kind: "open",
    operates: true,
  });
});
