import assert from "node:assert/strict";
import { moneyText, sumText } from "./markup.ts";

Deno.test("moneyText() writes amounts with the decimals of their currency, and rounds none", () => {
  assert.equal(moneyText("100.5", "USD"), "100.50 USD");
  assert.equal(moneyText("100", "eur"), "100.00 eur");
  assert.equal(moneyText("-0.125", "USD"), "-0.125 USD");
  assert.equal(moneyText("1200", "JPY"), "1,200 JPY");
  assert.equal(moneyText("7", "no currency"), "7.00 no currency");
  assert.equal(moneyText("7.1", null), "7.10");
  assert.equal(moneyText("1e3", "USD"), "1e3 USD");
  assert.equal(moneyText(null, "USD"), "");
  assert.equal(sumText("282.8", "USD"), "282.80");
  assert.equal(sumText("-1234567.8", "USD"), "-1,234,567.80");
  assert.equal(sumText("123456.123456", "USD"), "123,456.123456");
});
