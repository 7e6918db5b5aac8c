import assert from "node:assert/strict";
import { createSandbox } from "./create_sandbox.ts";
import { virtualClock } from "./clock.ts";
import type { Sandbox, SandboxPartner } from "./sandbox.ts";

/** Test numbers with right Luhn sums. */
const NUMBERS = [
  "4111111111111111",
  "5555555555554444",
  "4012888888881881",
  "4222222222222",
];

const GOOD = {
  card_number: NUMBERS[0],
  exp_month: "01",
  exp_year: "2026",
  billing_address: {
    country: "US",
    state: "CA",
    postal_code: "94 105-1",
    city: "San Francisco",
    street: "1 Market Street",
  },
};

function setUp(partner: SandboxPartner = {}): Sandbox {
  return createSandbox({
    clock: virtualClock(Date.UTC(2026, 0, 31)),
    partner,
  });
}

async function register(
  sandbox: Sandbox,
  body: Record<string, unknown>,
  key = sandbox.apiKey,
) {
  const response = await sandbox.fetch(
    new Request("http://sandbox/api/v1/partner/register", {
      method: "POST",
      headers: { "x-api-key": key },
      body: JSON.stringify(body),
    }),
  );
  return { status: response.status, body: await response.json() };
}

Deno.test("cardRoute() saves a card and keeps only its last digits", async () => {
  const sandbox = setUp();
  const { userId } = sandbox.createUser({ createdByPartner: true });
  const answer = await register(sandbox, { ...GOOD, user_id: userId });
  assert.equal(answer.status, 200);
  const [card] = sandbox.user(userId)?.cards ?? [];
  assert.equal(answer.body.card_id, card?.cardId);
  assert.equal(card?.lastDigits, "1111");
  assert.ok(
    !JSON.stringify(
      sandbox.user(userId),
      (_name, value) => typeof value === "bigint" ? String(value) : value,
    ).includes(
      NUMBERS[0] ?? "",
    ),
  );
});

Deno.test("cardRoute() answers each row of its error table", async () => {
  type Case = [
    row: [number, number | undefined, string],
    change: Record<string, unknown>,
    arrange?: ((sandbox: Sandbox, userId: string) => void) | undefined,
    partner?: SandboxPartner,
  ];
  const address = (change: Record<string, unknown>) => ({
    billing_address: { ...GOOD.billing_address, ...change },
  });
  const billing: Case[0] = [400, 121, "invalid billing address information"];
  const cases: Case[] = [
    [[400, undefined, "Invalid card"], { card_number: "4111111111111112" }],
    [[400, undefined, "Invalid card"], { card_number: "42" }],
    [[400, undefined, "Invalid card"], { card_number: 4111111111111111 }],
    [[400, undefined, "Invalid exp month"], { exp_month: "13" }],
    [[400, undefined, "Invalid exp month"], { exp_month: "1" }],
    [[400, undefined, "Invalid year"], { exp_year: "26" }],
    [[400, undefined, "Card expired"], { exp_month: "12", exp_year: "2025" }],
    [billing, { billing_address: undefined }],
    [billing, address({ country: "USA" })],
    [billing, address({ state: undefined })],
    [billing, address({ country: "CA", state: undefined })],
    [billing, address({ postal_code: "1" })],
    [billing, address({ city: "12345" })],
    [billing, address({ street: "Königstraße 1" })],
    [billing, address({ street: "x".repeat(36) })],
    [
      [400, 109, "attempt to register more cards than allowed"],
      {},
      undefined,
      { cardsPerUser: 0 },
    ],
    [[400, 309, "user not found"], { user_id: "nobody" }],
    [
      [400, 310, "user banned"],
      {},
      (sandbox, userId) => sandbox.amendUser(userId, { banned: true }),
    ],
    [
      [403, 1022, "restricted action"],
      {},
      (sandbox, userId) =>
        sandbox.amendUser(userId, { createdByPartner: false }),
    ],
    [
      [403, 1023, "partner not allowed"],
      {},
      undefined,
      { cardRegistration: false },
    ],
    [[403, 1006, "partner is blocked"], {}, undefined, { blocked: true }],
  ];
  for (
    const [[status, code, error_description], change, arrange, partner] of cases
  ) {
    const sandbox = setUp(partner);
    const { userId } = sandbox.createUser({ createdByPartner: true });
    arrange?.(sandbox, userId);
    const answer = await register(sandbox, {
      ...GOOD,
      user_id: userId,
      ...change,
    });
    const { request_id, ...body } = answer.body;
    assert.equal(answer.status, status, error_description);
    assert.deepEqual(body, {
      status: "error",
      ...(code !== undefined && { code }),
      error_description,
    });
    assert.equal(request_id !== undefined, code === 121);
  }
});

Deno.test("cardRoute() refuses a wrong key before anything else", async () => {
  const answer = await register(setUp({ blocked: true }), {}, "wrong");
  assert.equal(answer.status, 403);
  assert.equal(answer.body.code, 9002);
  assert.equal(answer.body.error_description, "invalid partner key");
});

Deno.test("cardRoute() refuses a card twice and one beyond the limit", async () => {
  const sandbox = setUp({ cardsPerUser: 2 });
  const { userId } = sandbox.createUser({ createdByPartner: true });
  const codes = [];
  for (const card_number of [NUMBERS[0], NUMBERS[0], NUMBERS[1], NUMBERS[2]]) {
    const { body } = await register(sandbox, {
      ...GOOD,
      card_number,
      user_id: userId,
    });
    codes.push(body.code);
  }
  assert.deepEqual(codes, [undefined, 113, undefined, 109]);
});
