import assert from "node:assert/strict";
import { ignoredOptions, type SessionFields } from "./ignored_options.ts";
import type { WidgetDraft } from "./option_rows.ts";

const base = { partner_id: "p", origin: "https://widget.wert.io" };
const full: WidgetDraft = {
  ...base,
  address: "a",
  commodity: "BTC",
  network: "bitcoin",
  commodity_amount: 1,
  commodities: '[{"commodity":"BTC","network":"bitcoin"}]',
  extra: { wallets: [{ name: "BTC", network: "bitcoin", address: "a" }] },
  phone: "+11014321111",
  lang: "fr",
  theme: "dark",
};

function ignored(options: WidgetDraft, session: SessionFields): string[] {
  return ignoredOptions(options, session).map(({ option, code }) => {
    return `${option} ${code}`;
  });
}

Deno.test("ignoredOptions() names all that a locked session drops", () => {
  assert.deepEqual(ignored(full, { flow_type: "simple_full_restrict" }), [
    "address session_locked",
    "commodity session_locked",
    "network session_locked",
    "commodity_amount session_locked",
    "commodities session_locked",
    "extra.wallets session_locked",
  ]);
});

Deno.test("ignoredOptions() names what a simple session was given itself, one by one", () => {
  const pairs: [keyof SessionFields, string[]][] = [
    ["wallet_address", [
      "address set_by_session",
      "extra.wallets set_by_session",
    ]],
    ["commodity", ["commodity set_by_session"]],
    ["network", ["network set_by_session"]],
    ["commodity_amount", ["commodity_amount set_by_session"]],
    ["currency_amount", []],
    ["user_id", ["phone set_by_session"]],
    ["currency", []],
  ];
  for (const [field, expected] of pairs) {
    const session = { flow_type: "simple", [field]: "x" };
    assert.deepEqual(ignored(full, session), expected, field);
  }
  assert.deepEqual(ignored(full, { flow_type: "simple" }), []);
});

Deno.test("ignoredOptions() is empty where nothing is set", () => {
  for (const flow_type of ["simple", "simple_full_restrict"]) {
    const session = { flow_type, user_id: "u", wallet_address: "a" };
    assert.deepEqual(ignored(base, session), []);
  }
});

Deno.test("ignoredOptions() warns of a locked currency that is not on offer", () => {
  const options = { ...base, currencies: '["EUR"]' };
  const locked = { flow_type: "simple_full_restrict", currency: "USD" };
  assert.deepEqual(ignored(options, locked), ["currencies blocks_purchase"]);
  assert.deepEqual(ignored(options, { ...locked, currency: "EUR" }), []);
  assert.deepEqual(ignored(options, { ...locked, flow_type: "simple" }), []);
});

Deno.test("ignoredOptions() names options that lose to others or lack one", () => {
  const options: WidgetDraft = {
    ...base,
    commodity_amount: 1,
    currency_amount: 30,
    user_id: "u",
    is_crypto_hidden: true,
    country_of_residence: "DE",
    state_of_residence: "CA",
    card_country_code: "CA",
    card_state_code: "NY",
    is_session_expire_on_email_mismatch: true,
  };
  const session = { flow_type: "simple" };
  assert.deepEqual(ignored(options, session), [
    "commodity_amount other_option",
    "user_id other_option",
    "is_crypto_hidden other_option",
    "state_of_residence other_option",
    "card_state_code other_option",
    "is_session_expire_on_email_mismatch other_option",
  ]);
  assert.deepEqual(
    ignored({
      ...options,
      sc_address: "0x",
      country_of_residence: "US",
      card_country_code: "US",
      email: "a@b.example",
    }, session),
    ["commodity_amount other_option"],
  );
});

Deno.test("ignoredOptions() names no option twice, and gives each a reason", () => {
  const options = { ...full, currency_amount: 30 };
  const session = { flow_type: "simple", commodity_amount: "1" };
  const entries = ignoredOptions(options, session);
  const names = entries.map(({ option }) => option);
  assert.equal(new Set(names).size, names.length);
  for (const { reason } of entries) assert.match(reason, /^[a-z]/);
});
