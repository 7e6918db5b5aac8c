import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";

const BASKET = ["--click", "c-17", "--reference", "basket-17"];
const PRICE = ["--currency", "USD", "--currency-amount", "900.00"];

Deno.test("rampkit expect records what an order is expected to be", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  const first = await cli(["expect", ...BASKET, ...PRICE], env);
  assert.equal(first.code, 0, first.err);
  assert.match(first.out, /^Expected under the click id c-17/);
  const again = await cli([
    ...["expect", ...BASKET, ...PRICE, "--valid-for", "12h"],
    ...["--asked-at", "2026-01-01T10:00:00Z", "--json"],
  ], env);
  assert.equal(again.code, 0, again.err);
  assert.match(JSON.parse(again.out).id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  const stats = await cli(["ledger", "stats", "--json"], env);
  assert.equal(JSON.parse(stats.out).events.order_expected, 2);
  for (const name of ["c-17", "basket-17"]) {
    const found = await cli(["find", name], env);
    assert.equal(found.code, 1);
    assert.match(
      found.err,
      /^No order matches what you recorded as click id c-17, reference basket-17 at 20/,
    );
  }
});

Deno.test("rampkit expect names every flag that is wrong", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  const { code, err } = await cli([
    ...["expect", "--click", "", "--currency-amount", "1e3"],
  ], env);
  assert.equal(code, 2);
  assert.match(
    err,
    /--click is empty.*--currency-amount is "1e3".*--currency /,
  );
  const stats = await cli(["ledger", "stats", "--json"], env);
  assert.equal(JSON.parse(stats.out).events.order_expected, 0);
});

Deno.test("rampkit expect refuses a click id that is valid for another reference, and says what to do", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  await cli(["expect", ...BASKET], env);
  const other = ["expect", "--click", "c-17", "--reference", "basket-18"];
  const { code, err } = await cli([...other, "--json"], env);
  assert.equal(code, 1);
  const { error } = JSON.parse(err.trim().split("\n").at(-1) ?? "");
  assert.equal(error.code, "in_use");
  assert.match(
    error.message,
    /--click "c-17" is still valid for the reference "basket-17".*take a new click id/,
  );
});
