import assert from "node:assert/strict";
import fc from "fast-check";
import { assets } from "../core/assets/assets.ts";
import { widgetOptionRows } from "./option_rows.ts";
import { draftOptions, widgetOptions, WidgetOptionsError } from "./options.ts";

const now = () => Date.UTC(2026, 10, 20);
const evm = "0x" + "ab".repeat(20);

/** Anything at all, as JavaScript callers pass it. */
function check(
  input: unknown,
  environment: "production" | "sandbox" = "production",
) {
  return widgetOptions(input as { partner_id: string; session_id: string }, {
    environment,
    now,
  });
}

const base = { partner_id: "01ABC", session_id: "s-1" };
const paymentMethods = widgetOptionRows.payment_method.oneOf;

/** `code path` of every fault, in order. */
function faults(
  fields: unknown,
  environment: "production" | "sandbox" = "production",
): string[] {
  const input = typeof fields === "object" ? { ...base, ...fields } : fields;
  try {
    check(input, environment);
    return [];
  } catch (error) {
    assert.ok(error instanceof WidgetOptionsError, String(error));
    return error.faults.map(({ code, path }) => `${code} ${path}`);
  }
}

Deno.test("widgetOptions() turns everything into the SDK's form", () => {
  const calls: string[] = [];
  const { listeners, ...options } = check({
    ...base,
    click_id: "5d1f7a3e-0000-4000-8000-000000000000",
    phone: "+11014321111",
    redirect_url: "https://shop.example/back?a=1",
    support_url: "https://shop.example/help",
    listeners: { position: ({ step }: { step: string }) => calls.push(step) },
    commodity: "USDT",
    network: "bsc",
    commodities: [
      { commodity: "USDT", network: "bsc" },
      { commodity: "BTC", network: "bitcoin" },
    ],
    currencies: ["USD", "EUR"],
    address: evm,
    commodity_amount: "0.10",
    currency_amount: "25.50",
    extra: {
      wallets: [{ name: "USDT", network: "bsc", address: evm }],
      item_info: { name: "n".repeat(40), image_url: "https://a.example/i.png" },
    },
    payment_method: ["apple-pay", "card"],
    payment_method_restriction: true,
    display_currency: "AUD",
    hide_fee_breakdown: true,
    user_id: "01K88HMYQAK47DSWB9RM3ZBNTP",
    country_of_residence: "US",
    state_of_residence: "CA",
    date_of_birth: "1990-04-03",
    email: "someone@mail.example",
    full_name: "Ada Lovelace",
    card_country_code: "US",
    card_city: "New York",
    card_state_code: "NY",
    card_post_code: "12345",
    card_street: "1 Church St",
    lang: "fr",
    skip_init_navigation: true,
    theme: "dark",
    brand_color: "#FF0000",
    sc_address: evm,
    sc_input_data: "0x00ff",
    signature: "abc",
    is_crypto_hidden: true,
    terms_on_payment: true,
    is_auto_logout_on_order_complete_enabled: true,
    is_session_expire_on_email_mismatch: true,
  });
  assert.deepEqual(options, {
    ...base,
    origin: "https://widget.wert.io",
    click_id: "5d1f7a3e-0000-4000-8000-000000000000",
    phone: "+11014321111",
    redirect_url: "https://shop.example/back?a=1",
    support_url: "https://shop.example/help",
    commodity: "USDT",
    network: "bsc",
    commodities: '[{"commodity":"USDT","network":"bsc"},' +
      '{"commodity":"BTC","network":"bitcoin"}]',
    currencies: '["USD","EUR"]',
    address: evm,
    commodity_amount: 0.1,
    currency_amount: 25.5,
    extra: {
      wallets: [{ name: "USDT", network: "bsc", address: evm }],
      item_info: { name: "n".repeat(40), image_url: "https://a.example/i.png" },
    },
    payment_method: ["apple-pay", "card"],
    payment_method_restriction: true,
    display_currency: "AUD",
    hide_fee_breakdown: true,
    user_id: "01K88HMYQAK47DSWB9RM3ZBNTP",
    country_of_residence: "US",
    state_of_residence: "CA",
    date_of_birth: "04/03/1990",
    email: "someone@mail.example",
    full_name: "Ada Lovelace",
    card_country_code: "US",
    card_city: "New York",
    card_state_code: "NY",
    card_post_code: "12345",
    card_street: "1 Church St",
    lang: "fr",
    skip_init_navigation: true,
    theme: "dark",
    brand_color: "#FF0000",
    sc_address: evm,
    sc_input_data: "0x00ff",
    signature: "abc",
    is_crypto_hidden: true,
    terms_on_payment: true,
    is_auto_logout_on_order_complete_enabled: true,
    is_session_expire_on_email_mismatch: true,
  });
  listeners?.position?.({ step: "kyc" });
  assert.deepEqual(calls, ["kyc"]);
});

const flags = [
  "payment_method_restriction",
  "hide_fee_breakdown",
  "skip_init_navigation",
  "is_crypto_hidden",
  "terms_on_payment",
  "is_auto_logout_on_order_complete_enabled",
  "is_session_expire_on_email_mismatch",
];

Deno.test("widgetOptions() leaves a false boolean out, which the widget counts as true", () => {
  for (const flag of flags) {
    assert.deepEqual(Object.keys(check({ ...base, [flag]: false })), [
      "partner_id",
      "session_id",
      "origin",
    ]);
  }
});

Deno.test("widgetOptions() refuses what is no real boolean", () => {
  for (const flag of flags) {
    for (const value of ["false", "true", 0, 1, null, "", {}]) {
      assert.deepEqual(faults({ [flag]: value }), [`type ${flag}`]);
    }
  }
});

Deno.test("widgetOptions() takes an undefined option as absent", () => {
  const absent = Object.fromEntries(
    [...flags, "phone", "commodity", "network", "extra", "listeners", "theme"]
      .map((name) => [name, undefined]),
  );
  assert.equal(Object.keys(check({ ...base, ...absent })).length, 3);
});

/** Option, values that pass, and values that do not with the fault's code. */
const cases: [string, unknown[], [unknown, string][]][] = [
  ["partner_id", ["01ABC", "a-b_c.d~e"], [
    ["", "required"],
    [undefined, "required"],
    [7, "type"],
    ["a/b", "format"],
    ["a?b", "format"],
    ["..", "format"],
    ["a b", "format"],
    ["a%2Fb", "format"],
  ]],
  ["session_id", ["s", "3f0c-1"], [
    ["", "required"],
    [undefined, "required"],
    [null, "type"],
    ["a b", "format"],
  ]],
  ["click_id", ["a", "5d1f7a3e-0000-4000", "shop:1@a=b", "x".repeat(256)], [
    ["", "required"],
    ["100%", "format"],
    ["a b", "format"],
    ["a&b", "format"],
    ["é", "format"],
    ["test_click_id", "unavailable"],
    ["x".repeat(257), "length"],
    [1, "type"],
  ]],
  ["phone", ["+11014321111", "11014321111", "+491701234567"], [
    ["+0123456789", "format"],
    ["+1 101 432 1111", "format"],
    ["0049170123456", "format"],
    ["+1234567890123456", "format"],
    ["+123456", "format"],
    [11014321111, "type"],
    ["", "required"],
  ]],
  ["redirect_url", ["https://a.example", "http://localhost:3000/x"], [
    ["a.example", "format"],
    ["/back", "format"],
    ["javascript:alert(1)", "format"],
    ["", "format"],
    [1, "type"],
  ]],
  ["support_url", ["https://a.example/help#x"], [
    ["mailto:a@b.example", "format"],
    ["data:text/html,x", "format"],
    [new URL("https://a.example"), "type"],
  ]],
  ["payment_method", [...paymentMethods, [...paymentMethods]], [
    ["applepay", "unlisted"],
    ["", "unlisted"],
    [true, "type"],
  ]],
  ["display_currency", [...widgetOptionRows.display_currency.oneOf], [
    ["USD", "unlisted"],
    ["aud", "unlisted"],
    [1, "type"],
  ]],
  ["address", ["anything-at-all"], [
    ["", "format"],
    ["a b", "format"],
    [1, "type"],
    [null, "type"],
  ]],
  [
    "commodity_amount",
    ["1", "0.5", "1.50", "123456789.125", "10", "0.000001"],
    [
      [1, "type"],
      ["1e3", "format"],
      ["1,5", "format"],
      [".5", "format"],
      ["5.", "format"],
      ["-1", "format"],
      ["+1", "format"],
      ["01", "format"],
      [" 1", "format"],
      ["NaN", "format"],
      ["", "format"],
      ["0", "range"],
      ["0.00", "range"],
      ["0.1234567890123456789", "range"],
      ["0.123456789012345678", "inexact"],
      ["9007199254740993", "inexact"],
      ["0.0000001", "inexact"],
      ["1000000000000000000000", "inexact"],
    ],
  ],
  ["currency_amount", ["30", "30.00", "45.5", "99999.99"], [
    ["0.99", "range"],
    ["0", "range"],
    ["25.505", "range"],
    [30, "type"],
    ["30 USD", "format"],
  ]],
  ["user_id", ["01K88HMYQAK47DSWB9RM3ZBNTP"], [["", "required"], [
    "a b",
    "format",
  ]]],
  ["country_of_residence", ["US", "DE", "GE"], [
    ["USA", "unlisted"],
    ["us", "unlisted"],
    ["UK", "unlisted"],
    ["XX", "unlisted"],
    [1, "type"],
  ]],
  ["state_of_residence", ["CA", "NY", "DC"], [
    ["California", "unlisted"],
    ["ny", "unlisted"],
    ["ON", "unlisted"],
    [null, "type"],
  ]],
  ["email", ["a@b.example", "first.last+tag@sub.mail.example"], [
    ["a", "format"],
    ["a@b", "format"],
    ["a b@c.example", "format"],
    ["a@b@c.example", "format"],
    ["a@b..example", "format"],
    [`${"a".repeat(250)}@b.example`, "length"],
    ["", "required"],
  ]],
  ["full_name", ["Ada Lovelace", "Mary-Ann O'Neill", "Bloch André", "a b"], [
    ["Ada", "format"],
    ["12 34", "format"],
    ["Ada Lovelace 2", "format"],
    ["Ada_B Lovelace", "format"],
    ["<b> Ada Lovelace", "format"],
    ["A", "length"],
    ["Ада Лавлейс", "format"],
    [`Ada ${"L".repeat(66)}`, "length"],
    [["Ada", "Lovelace"], "type"],
  ]],
  ["card_country_code", ["US"], [["USA", "unlisted"]]],
  ["card_city", ["New York"], [["", "required"], [1, "type"]]],
  ["card_state_code", ["NY"], [["New York", "unlisted"]]],
  ["card_post_code", ["12345", "SW1A 1AA"], [[12345, "type"]]],
  ["card_street", ["1 Church St"], [["", "required"]]],
  ["lang", [...widgetOptionRows.lang.oneOf], [["EN", "unlisted"], [
    "ru",
    "unlisted",
  ]]],
  ["theme", ["dark"], [["light", "unlisted"], ["", "unlisted"]]],
  ["brand_color", ["#FF0000", "#f00"], [
    ["red", "format"],
    ["FF0000", "format"],
    ["#FF00", "format"],
    ["#GGGGGG", "format"],
    [0xff0000, "type"],
  ]],
];

for (const [name, passing, failing] of cases) {
  Deno.test(`widgetOptions() checks ${name}`, () => {
    for (const value of passing) {
      assert.deepEqual(faults({ [name]: value }), [], `${value}`);
    }
    for (const [value, code] of failing) {
      const expected = [`${code} ${name}`];
      assert.deepEqual(faults({ [name]: value }), expected, String(value));
    }
  });
}

Deno.test("widgetOptions() checks lists entry by entry", () => {
  assert.deepEqual(
    faults({
      payment_method: ["card", "paypal", "card"],
      commodities: [
        { commodity: "BTC", network: "bitcoin" },
        { commodity: "BTC", network: "bsc" },
        "BTC",
        { commodity: "BTC", network: "bitcoin" },
      ],
      currencies: [],
    }),
    [
      "unlisted payment_method[1]",
      "duplicate payment_method[2]",
      "unlisted commodities[1].network",
      "type commodities[2]",
      "duplicate commodities[3]",
      "required currencies",
    ],
  );
  const text = JSON.stringify([{ commodity: "BTC", network: "bitcoin" }]);
  assert.deepEqual(faults({ commodities: text }), ["type commodities"]);
});

Deno.test("widgetOptions() checks every pair of commodity and network by the environment", () => {
  const all = [...assets.production, ...assets.sandbox];
  const commodities = new Set(all.map((asset) => asset.commodity));
  const networks = new Set(all.map((asset) => asset.network));
  for (const table of ["production", "sandbox"] as const) {
    const listed = new Set(
      assets[table].map(({ commodity, network }) => `${commodity} ${network}`),
    );
    for (const commodity of commodities) {
      for (const network of networks) {
        const passes = faults({ commodity, network }, table).length === 0;
        const pair = `${commodity} ${network}`;
        assert.equal(passes, listed.has(pair), `${table} ${pair}`);
      }
    }
  }
});

Deno.test("widgetOptions() names the service's spelling and the networks there are", () => {
  assert.throws(
    () => check({ ...base, commodity: "cusdc", network: "sepolia" }, "sandbox"),
    /the service spells it "cUSDC" on "sepolia"/,
  );
  assert.throws(
    () => check({ ...base, commodity: "XTZ", network: "bsc" }),
    /production has "XTZ" on tezos, etherlink/,
  );
});

Deno.test("widgetOptions() wants commodity and network together", () => {
  assert.deepEqual(faults({ commodity: "BTC" }), ["required network"]);
  assert.deepEqual(faults({ network: "bitcoin" }), ["required commodity"]);
  assert.deepEqual(faults({ commodity: { id: 1 }, network: 5 }), [
    "type commodity",
    "type network",
  ]);
});

Deno.test("widgetOptions() wants the default asset among those on offer", () => {
  const commodities = [{ commodity: "POL", network: "polygon" }];
  assert.deepEqual(
    faults({ commodity: "BTC", network: "bitcoin", commodities }),
    ["conflict commodity"],
  );
});

Deno.test("widgetOptions() lets unlisted assets through where allowed", () => {
  const input = {
    ...base,
    commodity: "NEW",
    network: "newchain",
    commodities: [{ commodity: "NEW", network: "newchain" }],
    currencies: ["GBP"],
    extra: { wallets: [{ name: "NEW", network: "newchain", address: "a" }] },
  };
  const context = { environment: "sandbox", now } as const;
  const allowed = widgetOptions(input, {
    ...context,
    allowUnlistedAssets: true,
  });
  assert.equal(allowed.commodity, "NEW");
  assert.deepEqual(faults(input, "sandbox"), [
    "unlisted commodity",
    "unlisted commodities[0].commodity",
    "unlisted currencies[0]",
    "unlisted extra.wallets[0].name",
  ]);
  assert.throws(
    () =>
      widgetOptions({ ...input, commodity: "a b", currencies: ["pounds"] }, {
        ...context,
        allowUnlistedAssets: true,
      }),
    /commodity is "a b".*currencies\[0\] is "pounds"/,
  );
});

Deno.test("widgetOptions() knows no EUR in the sandbox", () => {
  assert.deepEqual(faults({ currencies: ["USD", "EUR"] }, "sandbox"), [
    "unavailable currencies[1]",
  ]);
  assert.deepEqual(faults({ currencies: ["USD", "EUR"] }), []);
});

Deno.test("widgetOptions() wants 30 for BTC", () => {
  const bitcoin = { commodity: "BTC", network: "bitcoin" };
  assert.deepEqual(faults({ ...bitcoin, currency_amount: "29.99" }), [
    "range currency_amount",
  ]);
  assert.deepEqual(faults({ ...bitcoin, currency_amount: "30" }), []);
});

Deno.test("widgetOptions() wants 30 where no asset is named, since the service takes BTC then", () => {
  const few = { currency_amount: "29.99" };
  assert.deepEqual(faults(few), ["range currency_amount"]);
  assert.deepEqual(faults({ currency_amount: "30" }), []);
  assert.deepEqual(faults(few, "sandbox"), [], "which has no BTC");
  const only = [{ commodity: "POL", network: "polygon" }];
  assert.deepEqual(faults({ ...few, commodities: only }), []);
  const both = [...only, { commodity: "BTC", network: "bitcoin" }];
  assert.deepEqual(faults({ ...few, commodities: both }), [
    "range currency_amount",
  ]);
});

Deno.test("widgetOptions() takes a click id whose special characters are percent-encoded", () => {
  for (const id of ["basket%2017", "50%25", "%C3%A9"]) {
    assert.deepEqual(faults({ click_id: id }), [], id);
  }
  for (const id of ["50%", "%2", "%zz", "a b", "é"]) {
    assert.deepEqual(faults({ click_id: id }), ["format click_id"], id);
  }
});

Deno.test("widgetOptions() wants no more decimals than the asset has", () => {
  const bitcoin = { commodity: "BTC", network: "bitcoin" };
  assert.deepEqual(faults({ ...bitcoin, commodity_amount: "0.123456789" }), [
    "range commodity_amount",
  ]);
  assert.deepEqual(faults({ ...bitcoin, commodity_amount: "0.12345678" }), []);
});

Deno.test("widgetOptions() passes an amount as exactly the decimal it was, or refuses", () => {
  const decimal = fc.tuple(
    fc.bigInt({ min: 0n, max: 10n ** 20n }),
    fc.stringMatching(/^\d{0,18}$/),
  ).map(([whole, part]) => part === "" ? `${whole}` : `${whole}.${part}`);
  let passed = 0;
  fc.assert(
    fc.property(decimal, (text) => {
      let options;
      try {
        options = check({ ...base, commodity_amount: text });
      } catch (error) {
        assert.ok(error instanceof WidgetOptionsError);
        return;
      }
      passed++;
      const [whole, part = ""] = String(options.commodity_amount).split(".");
      const [wantedWhole, wantedPart = ""] = text.split(".");
      assert.equal(whole, wantedWhole);
      assert.equal(part, wantedPart.replace(/0+$/, ""));
    }),
    { numRuns: 500 },
  );
  assert.ok(passed > 10);
});

Deno.test("widgetOptions() writes the date of birth in the country's order", () => {
  const born = { date_of_birth: "1990-04-03" };
  for (const country_of_residence of ["DE", "GB", "CA", "UM"]) {
    const options = check({ ...base, ...born, country_of_residence });
    assert.equal(options.date_of_birth, "03/04/1990");
  }
  const american = check({ ...base, ...born, country_of_residence: "US" });
  assert.equal(american.date_of_birth, "04/03/1990");
  assert.deepEqual(faults(born), ["conflict date_of_birth"]);
});

Deno.test("widgetOptions() takes only days that exist, up to today", () => {
  const wrong: [unknown, string][] = [
    ["03/04/1990", "format"],
    ["1990-4-3", "format"],
    ["1990-02-30", "format"],
    ["1990-13-01", "format"],
    ["1990-00-10", "format"],
    ["", "format"],
    [631152000000, "format"],
    [new Date(0), "format"],
    ["1899-12-31", "range"],
    ["2026-11-21", "range"],
  ];
  for (const [date_of_birth, code] of wrong) {
    assert.deepEqual(faults({ date_of_birth, country_of_residence: "DE" }), [
      `${code} date_of_birth`,
    ]);
  }
  for (const date_of_birth of ["2000-02-29", "2026-11-20", "1900-01-01"]) {
    assert.deepEqual(
      faults({ date_of_birth, country_of_residence: "DE" }),
      [],
    );
  }
});

Deno.test("widgetOptions() checks addresses by their network where it is known", () => {
  const bitcoin = { commodity: "BTC", network: "bitcoin" };
  const good = [
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
    "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
  ];
  for (const address of good) {
    assert.deepEqual(faults({ ...bitcoin, address }), []);
  }
  assert.deepEqual(faults({ ...bitcoin, address: evm }), ["format address"]);
  const ether = { commodity: "ETH", network: "base" };
  assert.deepEqual(faults({ ...ether, address: evm }), []);
  for (const address of [good[0], evm.slice(0, -1), `${evm}0`]) {
    assert.deepEqual(faults({ ...ether, address }), ["format address"]);
  }
  const stacks = { commodity: "STX", network: "stacks" };
  assert.deepEqual(faults({ ...stacks, address: "SP2J6ZY48GV1" }), []);
});

Deno.test("widgetOptions() checks extra, which is no string", () => {
  assert.deepEqual(faults({ extra: '{"wallets":[]}' }), ["type extra"]);
  assert.deepEqual(faults({ extra: { wallets: [] } }), [
    "required extra.wallets",
  ]);
  assert.deepEqual(
    faults({
      extra: {
        nft: 1,
        wallets: [
          { name: "BTC", network: "bitcoin", address: evm },
          { commodity: "ETH", network: "base", address: evm },
          { name: "ETH", network: "base", address: evm, memo: "x" },
          { name: "ETH", network: "ethereum" },
          null,
        ],
        item_info: {
          name: "n".repeat(41),
          category: "c".repeat(41),
          author: 5,
          image_url: "picture.png",
          title: "t",
        },
      },
    }),
    [
      "unknown extra.nft",
      "format extra.wallets[0].address",
      "required extra.wallets[1].name",
      "unknown extra.wallets[1].commodity",
      "unknown extra.wallets[2].memo",
      "required extra.wallets[3].address",
      "type extra.wallets[4]",
      "length extra.item_info.name",
      "length extra.item_info.category",
      "type extra.item_info.author",
      "format extra.item_info.image_url",
      "unknown extra.item_info.title",
    ],
  );
});

Deno.test("widgetOptions() makes extra afresh, so that it can be sent by message", () => {
  class Item {
    name = "Ape";
    show = undefined;
  }
  const extra = { item_info: new Item(), wallets: undefined };
  const options = check({ ...base, extra });
  assert.deepEqual(structuredClone(options.extra), {
    item_info: { name: "Ape" },
  });
  assert.equal(check({ ...base, extra: {} }).extra, undefined);
});

Deno.test("widgetOptions() checks listeners by name and type", () => {
  assert.deepEqual(faults({ listeners: [() => {}] }), ["type listeners"]);
  assert.deepEqual(
    faults({ listeners: { loaded: "yes", paymentStatus: () => {} } }),
    ["type listeners.loaded", "unknown listeners.paymentStatus"],
  );
});

Deno.test("widgetOptions() wants all three options of a smart contract, or none", () => {
  const contract = ["sc_address", "sc_input_data", "signature"] as const;
  const values = { sc_address: evm, sc_input_data: "0xab", signature: "s" };
  for (let mask = 0; mask < 8; mask++) {
    const given = contract.filter((_, i) => mask & (1 << i));
    const input = Object.fromEntries(given.map((name) => [name, values[name]]));
    const missing = contract.filter((name) => !given.includes(name));
    const expected = given.length === 0
      ? []
      : missing.map((name) => `required ${name}`);
    assert.deepEqual(faults(input), expected);
  }
  assert.deepEqual(faults({ ...values, sc_input_data: "0xabc" }), [
    "format sc_input_data",
  ]);
  assert.deepEqual(
    faults({ ...values, commodity: "BTC", network: "bitcoin" }),
    ["unavailable commodity"],
  );
});

Deno.test("widgetOptions() wants a method to restrict to", () => {
  assert.deepEqual(faults({ payment_method_restriction: true }), [
    "conflict payment_method_restriction",
  ]);
});

Deno.test("widgetOptions() refuses options that would be dropped silently", () => {
  assert.deepEqual(
    faults({
      origin: "https://evil.example",
      wallet_address: evm,
      sessionId: "s",
      currency: "USD",
      container_id: "x",
      toString: 1,
    }),
    [
      "unknown origin",
      "unknown wallet_address",
      "unknown sessionId",
      "unknown currency",
      "unknown container_id",
      "unknown toString",
    ],
  );
});

Deno.test("widgetOptions() refuses what is no object", () => {
  for (const input of [null, undefined, "p", 5, []]) {
    assert.throws(() => check(input), {
      name: "WidgetOptionsError",
      code: "widget_options",
    });
  }
});

Deno.test("draftOptions() takes no session, and is else the same", () => {
  const draft = draftOptions({ partner_id: "01ABC", lang: "de" }, {
    environment: "production",
  });
  assert.deepEqual(draft, {
    partner_id: "01ABC",
    origin: "https://widget.wert.io",
    lang: "de",
  });
  assert.throws(
    () => draftOptions({ ...base }, { environment: "production" }),
    /session_id comes with the session that is asked for at the click/,
  );
});

Deno.test("WidgetOptionsError names all faults, without personal data or a session", () => {
  const personal = {
    session_id: "secret session",
    phone: "+1 SECRET",
    email: "secret@",
    full_name: "SECRET",
    date_of_birth: "SECRET",
  };
  const input = { ...base, ...personal, lang: "xx" };
  assert.throws(() => check(input), (error) => {
    assert.ok(error instanceof WidgetOptionsError);
    assert.ok(error instanceof TypeError);
    assert.match(error.message, /^Cannot make widget options: 6 faults: /);
    assert.doesNotMatch(error.message, /secret/i);
    assert.doesNotMatch(error.message, /\.$/);
    for (const { path, value, message } of error.faults) {
      assert.equal(value, (input as Record<string, unknown>)[path]);
      assert.ok(message.startsWith(path));
    }
    return true;
  });
});

Deno.test("widgetOptions() throws nothing but WidgetOptionsError, whatever it is given", () => {
  const names = [
    ...cases.map(([name]) => name),
    ...flags,
    "extra",
    "listeners",
  ];
  fc.assert(fc.property(
    fc.dictionary(
      fc.oneof(fc.constantFrom(...names), fc.string()),
      fc.anything({ withNullPrototype: true, withBigInt: true }),
    ),
    fc.boolean(),
    (input, allowUnlistedAssets) => {
      try {
        const options = widgetOptions({ ...base, ...input } as typeof base, {
          environment: "sandbox",
          allowUnlistedAssets,
          now,
        });
        assert.equal(options.origin, "https://sandbox.wert.io");
      } catch (error) {
        assert.ok(error instanceof WidgetOptionsError, String(error));
      }
    },
  ));
});
