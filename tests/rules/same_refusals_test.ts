// The sandbox refuses exactly what the client refuses, but for the differences
// that the service's documentation has itself; each is a test of its own here.
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  checkCardInput,
  checkSessionInput,
  checkUserInput,
} from "../../client/mod.ts";
import { assets } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import { isDecimal } from "../../core/decimal.ts";
import { ExactNumber } from "../../core/json/json.ts";
import { draftOptions, WidgetOptionsError } from "../../widget/mod.ts";
import { createSandbox, virtualClock } from "../../sandbox/mod.ts";

type Fields = Record<string, unknown>;

/** What any field may hold by mistake; undefined leaves the field out. */
const MISTAKES = [undefined, null, "", " ", "\n", "é", "x", 0, 7, true, [], {}];

/** A good request in which up to `most` fields are replaced. */
function changed(
  good: Fields,
  values: Readonly<Record<string, readonly unknown[]>>,
  most: number,
): fc.Arbitrary<Fields> {
  const changes = Object.entries(values).map(([field, picked]) =>
    fc.tuple(
      fc.constant(field),
      fc.oneof(
        { arbitrary: fc.constantFrom(...picked), weight: 6 },
        { arbitrary: fc.constantFrom<unknown>(...MISTAKES), weight: 1 },
        { arbitrary: fc.string({ maxLength: 12 }), weight: 1 },
      ),
    )
  );
  return fc.array(fc.oneof(...changes), { maxLength: most }).map((list) => ({
    ...good,
    ...Object.fromEntries(list),
  }));
}

/** Counts verdicts, so that a property that sees one kind only is noticed. */
function tally() {
  const seen = { accepted: 0, refused: 0 };
  return {
    add: (refused: boolean) => refused ? seen.refused++ : seen.accepted++,
    check: () =>
      assert.ok(
        seen.accepted > 10 && seen.refused > 10,
        `accepted ${seen.accepted}, refused ${seen.refused}`,
      ),
  };
}

/** As it arrives in JSON: without fields that are undefined. */
function sent(fields: Fields): Fields {
  return JSON.parse(JSON.stringify(fields));
}

function sandboxOf(assets: AssetTable = "sandbox") {
  const sandbox = createSandbox({
    clock: virtualClock(Date.UTC(2026, 0, 1)),
    assets,
    partner: {
      restrictedCountries: [],
      unsupportedStates: [],
      cardsPerUser: 1e6,
    },
  });
  async function post(path: string, body: unknown) {
    const response = await sandbox.fetch(
      new Request(`http://sandbox${path}`, {
        method: "POST",
        headers: { "x-api-key": sandbox.apiKey },
        body: JSON.stringify(body),
      }),
    );
    return { status: response.status, body: await response.json() };
  }
  return { sandbox, post };
}

const USER = {
  has_accepted_terms_of_service: true,
  phone: "+14155550123",
  email: "ann@example.com",
  first_name: "Ann",
  middle_name: "B2",
  last_name: "Lee",
  date_of_birth: "1990-02-28",
  country_of_residence: "USA",
  state_of_residence: "CA",
};
const NAMES = [
  "Al",
  "A",
  "12",
  "A1",
  "O'Neill",
  "a".repeat(30),
  "a".repeat(31),
];
const USER_VALUES = {
  has_accepted_terms_of_service: [true, "true", 1],
  phone: [
    ..."+1234567 +123456 +123456789012345 +1234567890123456 +0123456789".split(
      " ",
    ),
    ..."14155550123 +1-415-555-0123 +1415abc0123 ++14155550123".split(" "),
    "+1 415 555 0123",
    "+14155550123\n",
  ],
  email: [
    ..."a@b.co a@b a@ @b.co a@b..co a@-b.co a@b-.co a.b+c@d.e.co a@@b.co"
      .split(" "),
    "a b@c.co",
    "a@é.co",
    "a@b.co ",
  ],
  first_name: NAMES,
  middle_name: NAMES,
  last_name: NAMES,
  date_of_birth: [
    ..."2000-02-29 1999-02-29 1900-02-29 1990-13-01 1990-00-10 1990-1-1"
      .split(" "),
    ..."01/02/1990 1990-01-01T00:00:00Z 1990-06-31 19900101".split(" "),
  ],
  country_of_residence: ["USA", "DEU", "XKX", "XXX", "US", "usa", "deu", "CAN"],
  state_of_residence: ["CA", "ca", "ZZ", "QC", "California", "PR", "C", "C1"],
};

Deno.test("users: the sandbox refuses exactly what the client refuses", async () => {
  const { post } = sandboxOf();
  const seen = tally();
  await fc.assert(
    fc.asyncProperty(changed(USER, USER_VALUES, 2), async (fields) => {
      const input = sent(fields);
      const [fault] = checkUserInput(input as never);
      const answer = await post("/api/external/users/create", input);
      // A user with this phone may exist: that is found after the form.
      assert.equal(answer.status === 400, fault !== undefined);
      seen.add(fault !== undefined);
      if (fault) assert.equal(answer.body.field, fault.field);
    }),
    { numRuns: 600 },
  );
  seen.check();
});

const CARD = {
  card_number: "4111111111111111",
  exp_month: "01",
  exp_year: "2030",
  billing_address: {
    country: "US",
    state: "CA",
    postal_code: "94 105-1",
    city: "San Francisco",
    street: "1 Market Street",
  },
};
const CARD_VALUES = {
  card_number: [
    ..."4222222222222 000000000000 0000000000000000000 00000000000".split(" "),
    "00000000000000000000",
    4111111111111111,
  ],
  exp_month: ["00", "01", "12", "13", "1", "001", "1a", 12],
  exp_year: ["2030", "9999", "30", "20300", "203x", 2030],
};
const ADDRESS_VALUES = {
  country: ["US", "CA", "DE", "XK", "XX", "USA", "us"],
  state: ["CA", "ON", "ZZ", "ca", "California", "BY"],
  postal_code: [
    "10115",
    "1",
    "12",
    "1234567890",
    "12345678901",
    "10.115",
    "  ",
  ],
  city: ["Rome", "R", "12345", "1 2", "St. Gallen", "a".repeat(25)],
  street: ["Main St", "Main St.", "12 34", "a".repeat(35), "a".repeat(36)],
};

Deno.test("cards: the sandbox refuses exactly what the client refuses", async () => {
  const { sandbox, post } = sandboxOf();
  const cards = fc.tuple(
    changed(CARD, CARD_VALUES, 1),
    changed(CARD.billing_address, ADDRESS_VALUES, 2),
    fc.constantFrom<unknown>(...new Array(12).fill("address"), null, 5, [], {}),
    fc.nat(9).map((chance) => chance > 0),
  );
  const seen = tally();
  await fc.assert(
    fc.asyncProperty(cards, async ([card, address, place, named]) => {
      const { userId } = sandbox.createUser({ createdByPartner: true });
      const input = sent({
        ...card,
        billing_address: place === "address" ? address : place,
        user_id: named ? userId : undefined,
      });
      const faults = checkCardInput(input as never);
      const { status } = await post("/api/v1/partner/register", input);
      assert.equal(status !== 200, faults.length > 0, JSON.stringify(faults));
      seen.add(faults.length > 0);
    }),
    { numRuns: 600 },
  );
  seen.check();
});

const WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const SESSION_VALUES = {
  flow_type: ["simple", "simple_full_restrict", "locked", "Simple"],
  user_id: ["01ABC"],
  commodity: ["BTC", "btc", "POL", "ETH", "TT", "DOGE"],
  network: ["bitcoin", "Polygon", "amoy", "sepolia", "base", "moon"],
  wallet_address: [
    WALLET,
    WALLET.toLowerCase(),
    WALLET.replace("A", "a"),
    "0x12",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
  ],
  currency: ["USD", "EUR", "GBP", "usd"],
  commodity_amount: ["0.01", "0", "-1", "1,5", "00.1", ".5", 5, 0, -5],
  currency_amount: [
    ..."0.95 1 0.999999999999999999 29.999999999999999999 30 30.00 0 -30"
      .split(" "),
    ..."30.001 99.99 99.9900 1.005".split(" "),
    `${"9".repeat(101)}`,
    29,
    30,
  ],
};

/** The client takes amounts as texts; the service as numbers. */
function withNumbers(fields: Fields): Fields {
  const number = (value: unknown) =>
    typeof value === "string" && isDecimal(value)
      ? new ExactNumber(value)
      : value;
  return {
    ...fields,
    commodity_amount: number(fields.commodity_amount),
    currency_amount: number(fields.currency_amount),
  };
}

for (const table of ["production", "sandbox"] as const) {
  Deno.test(`sessions of ${table}: the sandbox refuses exactly what the client refuses`, async () => {
    const { post } = sandboxOf(table);
    const pair = fc.constantFrom(...assets[table]);
    const sessions = fc.tuple(
      changed({ flow_type: "simple" }, SESSION_VALUES, 5),
      fc.option(pair),
    );
    const seen = tally();
    await fc.assert(
      fc.asyncProperty(sessions, async ([fields, asset]) => {
        const { commodity, network } = asset ?? fields;
        // Without a flow type the client asks for "simple"; see below.
        const flow_type = fields.flow_type ?? "simple";
        const input = sent({ ...fields, flow_type, commodity, network });
        const { faults } = checkSessionInput(input as never, { assets: table });
        const { status } = await post(
          "/api/external/hpp/create-session",
          withNumbers(input),
        );
        assert.equal(status !== 200, faults.length > 0, JSON.stringify(faults));
        seen.add(faults.length > 0);
        seen.add(faults.length > 0);
      }),
      { numRuns: 1_000 },
    );
    seen.check();
  });
}

for (const environment of ["production", "sandbox"] as const) {
  Deno.test(`widget options and sessions of ${environment} refuse the same fiat amounts`, () => {
    const cents = fc.integer({ min: 0, max: 4_000 }).map((cents) =>
      (cents / 100).toFixed(2)
    );
    const amounts = fc.oneof(
      cents,
      fc.constantFrom(..."29.999 30.001 30.000 1 0.995 1.005 0 x".split(" ")),
    );
    const asset = fc.option(fc.constantFrom(...assets[environment]));
    const seen = tally();
    fc.assert(
      fc.property(amounts, asset, (currency_amount, asset) => {
        const named = asset === null
          ? {}
          : { commodity: asset.commodity, network: asset.network };
        const { faults } = checkSessionInput(
          { ...named, currency: "USD", currency_amount },
          { assets: environment },
        );
        let refused = false;
        try {
          draftOptions({
            partner_id: "p",
            ...named,
            currency_amount,
          } as never, { environment });
        } catch (error) {
          assert.ok(error instanceof WidgetOptionsError);
          refused = true;
        }
        assert.equal(refused, faults.length > 0, JSON.stringify(faults));
        seen.add(refused);
      }),
      { numRuns: 500 },
    );
    seen.check();
  });
}

Deno.test("difference: the client refuses fields that the interface does not name, the service ignores them", async () => {
  const { post } = sandboxOf();
  const user = { ...USER, nickname: "A" };
  assert.equal(checkUserInput(user as never)[0]?.field, "nickname");
  const { status } = await post("/api/external/users/create", user);
  assert.equal(status, 200);
});

Deno.test("difference: what depends on the service's policy is refused by the service alone", async () => {
  const { post } = sandboxOf();
  for (
    const change of [
      { has_accepted_terms_of_service: false },
      { date_of_birth: "2015-01-01" },
    ]
  ) {
    const user = { ...USER, ...change };
    assert.deepEqual(checkUserInput(user), []);
    const { status } = await post("/api/external/users/create", user);
    assert.equal(status, 403);
  }
});

Deno.test("difference: the table of cards has no checksum and no expiry, the service's answers have", async () => {
  const { sandbox, post } = sandboxOf();
  const { userId } = sandbox.createUser({ createdByPartner: true });
  for (
    const change of [
      { card_number: "4111111111111112" },
      { card_number: "not a card number" },
      { exp_year: "2025" },
    ]
  ) {
    const card = { ...CARD, user_id: userId, ...change };
    assert.deepEqual(checkCardInput(card), []);
    const { status } = await post("/api/v1/partner/register", card);
    assert.equal(status, 400);
  }
});

Deno.test("difference: flow_type is required, and the client sends its default", async () => {
  const { post } = sandboxOf();
  const { faults, body } = checkSessionInput({}, { assets: "sandbox" });
  assert.deepEqual(faults, []);
  assert.equal(body.flow_type, "simple");
  const { status } = await post("/api/external/hpp/create-session", {});
  assert.equal(status, 400);
});

Deno.test("difference: amounts are numbers in JSON, which the client takes as plain decimal texts", async () => {
  const { post } = sandboxOf();
  for (const amount of [0.5, "5e-1"]) {
    const { faults } = checkSessionInput({ commodity_amount: amount }, {
      assets: "sandbox",
    });
    assert.equal(faults[0]?.field, "commodity_amount");
    const { status } = await post("/api/external/hpp/create-session", {
      flow_type: "simple",
      commodity_amount: new ExactNumber(String(amount)),
    });
    assert.equal(status, 200);
  }
});
