import assert from "node:assert/strict";
import { readApiTokens } from "./values.ts";
import { UsageError } from "./errors.ts";

const READ = "0123456789abcdef";
const OPERATE = "fedcba9876543210";

Deno.test("readApiTokens() reads scope, name and token of each entry", () => {
  assert.deepEqual(
    readApiTokens(
      "RAMPKIT_API_TOKENS",
      ` read:${READ}, operate@night-shift:${OPERATE} ,`,
    ),
    [
      { token: READ, name: null, scope: "read" },
      { token: OPERATE, name: "night-shift", scope: "operate" },
    ],
  );
  for (const text of ["", " , "]) {
    assert.deepEqual(readApiTokens("RAMPKIT_API_TOKENS", text), []);
  }
});

Deno.test("readApiTokens() refuses what is wrong, and says where without the token", () => {
  for (
    const entry of [
      "sesame-open-sesame",
      "write:sesame-open-sesame",
      "read@night shift:sesame-open-sesame",
      "read:sesame open sesame!",
      "read:",
      "read:sesame",
    ]
  ) {
    assert.throws(
      () => readApiTokens("RAMPKIT_API_TOKENS", `read:${READ},${entry}`),
      (error) =>
        error instanceof UsageError &&
        /^Wrong RAMPKIT_API_TOKENS: token 2 of 2 /.test(error.message) &&
        !error.message.includes("sesame"),
      entry,
    );
  }
});
