import assert from "node:assert/strict";
import { createSandbox } from "./create_sandbox.ts";
import { virtualClock } from "./clock.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";

const GOOD = {
  has_accepted_terms_of_service: true,
  phone: "+14155550123",
  email: "ada@example.com",
  first_name: "Ada",
  last_name: "Lovelace2",
  date_of_birth: "2000-01-01",
  country_of_residence: "USA",
  state_of_residence: "CA",
};

function setUp(options: SandboxOptions = {}): Sandbox {
  return createSandbox({
    clock: virtualClock(Date.UTC(2026, 0, 1)),
    ...options,
  });
}

async function create(sandbox: Sandbox, body: unknown, key = sandbox.apiKey) {
  const response = await sandbox.fetch(
    new Request("http://sandbox/api/external/users/create", {
      method: "POST",
      headers: { "x-api-key": key },
      body: JSON.stringify(body),
    }),
  );
  return { status: response.status, body: await response.json() };
}

Deno.test("userCreateRoute() makes a user whose verification has begun", async () => {
  const sandbox = setUp();
  const { status, body } = await create(sandbox, GOOD);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body).sort(), ["created_at", "user_id"]);
  const user = sandbox.user(body.user_id);
  assert.equal(user?.lkyc, "progress");
  assert.equal(user?.createdByPartner, true);
});

Deno.test("userCreateRoute() answers 400 with the name of each wrong field", async () => {
  const wrong: Record<string, unknown[]> = {
    phone: [undefined, "14155550123", "+1", "+1415abc0123", 14155550123],
    email: [undefined, "ada", "ada@x", "a b@x.org"],
    first_name: [undefined, "A", "12345", "Zoë", "a".repeat(31), "Ann Lee"],
    middle_name: ["B", "!!"],
    last_name: [undefined, "O'Hara", ""],
    date_of_birth: [undefined, "01/01/2000", "2000-02-30", "2000-1-1"],
    country_of_residence: [undefined, "US", "United States"],
    state_of_residence: [undefined, "California"],
    has_accepted_terms_of_service: [undefined, "true"],
  };
  const sandbox = setUp();
  for (const [field, values] of Object.entries(wrong)) {
    for (const value of values) {
      const answer = await create(sandbox, { ...GOOD, [field]: value });
      assert.equal(answer.status, 400, `${field}: ${value}`);
      assert.deepEqual(answer.body, {
        field,
        message: `Invalid ${field} format`,
      });
    }
  }
  assert.equal((await create(sandbox, [])).status, 400);
  assert.equal(sandbox.users().length, 0);
});

Deno.test("userCreateRoute() answers 403 to what the service does not allow", async () => {
  const cases: [string, Record<string, unknown>, SandboxOptions?][] = [
    [
      "has_accepted_terms_of_service",
      { has_accepted_terms_of_service: false },
    ],
    ["country_of_residence", { country_of_residence: "PRK" }],
    ["state_of_residence", { state_of_residence: "NY" }],
    ["date_of_birth", { date_of_birth: "2008-01-02" }],
    ["partner_id", {}, { partner: { userCreation: false } }],
  ];
  for (const [field, change, options] of cases) {
    const answer = await create(setUp(options), {
      ...GOOD,
      state_of_residence: "CA",
      ...change,
    });
    assert.equal(answer.status, 403, field);
    assert.equal(answer.body.field, field);
  }
});

Deno.test("userCreateRoute() accepts a user on their eighteenth birthday", async () => {
  const body = { ...GOOD, date_of_birth: "2008-01-01" };
  assert.equal((await create(setUp(), body)).status, 200);
});

Deno.test("userCreateRoute() answers 409 with the user of the same phone", async () => {
  const sandbox = setUp();
  const first = await create(sandbox, GOOD);
  const second = await create(sandbox, { ...GOOD, first_name: "Bea" });
  assert.equal(second.status, 409);
  assert.equal(second.body.user_id, first.body.user_id);
  assert.equal(second.body.created_at, first.body.created_at);
  assert.equal(typeof second.body.message, "string");
});

Deno.test("userCreateRoute() answers 401 with its own message", async () => {
  const answer = await create(setUp(), GOOD, "wrong");
  assert.equal(answer.status, 401);
  assert.deepEqual(answer.body, { message: "ERR_UNAUTHORIZED" });
});
