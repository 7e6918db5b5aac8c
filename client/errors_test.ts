import assert from "node:assert/strict";
import {
  ConflictError,
  OnrampError,
  RateLimitError,
  ValidationError,
} from "./errors.ts";
import type { Operation } from "./call_options.ts";
import { answers, calls, operations, serve } from "./service_test.ts";

/** What one row of an error table has to become. */
interface Expected {
  readonly name: string;
  readonly code: string;
  readonly field?: string | null;
  readonly retryable?: boolean;
  readonly serviceCode?: number | null;
  readonly requestId?: string | null;
}

async function failure(
  operation: Operation,
  respond: () => Response,
): Promise<OnrampError> {
  await using service = serve(respond);
  const error: unknown = await calls[operation](service.client).then(
    () => assert.fail("The call succeeded"),
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof OnrampError, String(error));
  return error;
}

function row(
  operation: Operation,
  status: number,
  body: unknown,
  expected: Expected,
): void {
  const title = `${status} ${JSON.stringify(body)}`;
  Deno.test(`${operation}() maps ${title} to ${expected.name}`, async () => {
    const error = await failure(
      operation,
      () => Response.json(body, { status }),
    );
    assert.deepEqual(
      {
        name: error.name,
        class: error.constructor.name,
        code: error.code,
        status: error.status,
        field: error.field,
        retryable: error.retryable,
        serviceCode: error.serviceCode,
        requestId: error.requestId,
      },
      {
        name: expected.name,
        class: expected.name,
        code: expected.code,
        status,
        field: expected.field ?? null,
        retryable: expected.retryable ?? false,
        serviceCode: expected.serviceCode ?? null,
        requestId: expected.requestId ?? null,
      },
    );
    assert.match(error.message, /^Cannot .*[^.]$/);
  });
}

// Session creation: known by the message, under any 4xx.
for (const status of [400, 401, 403, 404, 422]) {
  row("sessions.create", status, {
    message:
      "invalid request: wallet_address and either commodity_amount or currency_amount must be specified",
  }, {
    name: "ValidationError",
    code: "rejected_input",
    field: "wallet_address",
  });
  row("sessions.create", status, {
    message: "unauthorized: API key is missing or invalid",
  }, { name: "AuthenticationError", code: "unauthorized" });
}

// User create.
for (
  const field of [
    "phone",
    "email",
    "date_of_birth",
    "first_name",
    "country_of_residence",
  ]
) {
  row("users.create", 400, { field, message: `Invalid ${field} format` }, {
    name: "ValidationError",
    code: "rejected_input",
    field,
  });
}
row("users.create", 400, {}, {
  name: "ValidationError",
  code: "rejected_input",
});
row("users.create", 401, { message: "ERR_UNAUTHORIZED" }, {
  name: "AuthenticationError",
  code: "unauthorized",
});
for (
  const [field, code] of [
    ["has_accepted_terms_of_service", "terms_not_accepted"],
    ["country_of_residence", "restricted_country"],
    ["partner_id", "partner_not_allowed"],
  ] as const
) {
  row("users.create", 403, { field, message: "no" }, {
    name: "PermissionError",
    code,
    field,
  });
}
row("users.create", 403, { message: "under 18" }, {
  name: "PermissionError",
  code: "forbidden",
});
row("users.create", 409, { message: "exists", user_id: "U", created_at: "T" }, {
  name: "ConflictError",
  code: "user_exists",
});
row("users.create", 429, { message: "slow down" }, {
  name: "RateLimitError",
  code: "rate_limited",
  retryable: true,
});
row("users.create", 500, { message: "oops" }, {
  name: "ServiceError",
  code: "service_failure",
  retryable: true,
});

// Card register.
const error = (error_description: string, more: object = {}) => ({
  status: "error",
  error_description,
  ...more,
});
row("cards.register", 400, error("Invalid card"), {
  name: "CardError",
  code: "invalid_card_number",
  field: "card_number",
});
row("cards.register", 400, error("Invalid exp month"), {
  name: "CardError",
  code: "invalid_exp_month",
  field: "exp_month",
});
row("cards.register", 400, error("Invalid year"), {
  name: "CardError",
  code: "invalid_exp_year",
  field: "exp_year",
});
row("cards.register", 400, error("Card expired"), {
  name: "CardError",
  code: "card_expired",
});
row(
  "cards.register",
  400,
  error("invalid billing address information", {
    code: 121,
    request_id: "R-1",
  }),
  {
    name: "CardError",
    code: "invalid_billing_address",
    field: "billing_address",
    serviceCode: 121,
    requestId: "R-1",
  },
);
row(
  "cards.register",
  400,
  error("attempt to register more cards than allowed", { code: 109 }),
  { name: "CardError", code: "too_many_cards", serviceCode: 109 },
);
row("cards.register", 400, error("card already registered", { code: 113 }), {
  name: "CardError",
  code: "card_already_registered",
  field: "card_number",
  serviceCode: 113,
});
row("cards.register", 400, error("user not found", { code: 309 }), {
  name: "CardError",
  code: "user_not_found",
  field: "user_id",
  serviceCode: 309,
});
row("cards.register", 400, error("user banned", { code: 310 }), {
  name: "CardError",
  code: "user_banned",
  field: "user_id",
  serviceCode: 310,
});
row("cards.register", 403, error("restricted action", { code: 1022 }), {
  name: "PermissionError",
  code: "restricted_action",
  serviceCode: 1022,
});
row("cards.register", 403, error("partner not allowed", { code: 1023 }), {
  name: "PermissionError",
  code: "partner_not_allowed",
  serviceCode: 1023,
});
row("cards.register", 403, error("invalid partner key", { code: 9002 }), {
  name: "AuthenticationError",
  code: "unauthorized",
  serviceCode: 9002,
});
row("cards.register", 403, error("partner is blocked", { code: 1006 }), {
  name: "PermissionError",
  code: "partner_blocked",
  serviceCode: 1006,
});
// By code when the wording changes, by wording when the code is left out.
row("cards.register", 400, error("other words", { code: 113 }), {
  name: "CardError",
  code: "card_already_registered",
  field: "card_number",
  serviceCode: 113,
});
row("cards.register", 403, error("partner is blocked"), {
  name: "PermissionError",
  code: "partner_blocked",
});
row("cards.register", 400, error("never heard of", { code: 777 }), {
  name: "CardError",
  code: "card_refused",
  serviceCode: 777,
});

// What no table says, for every call.
for (const operation of operations) {
  row(operation, 401, { message: "no" }, {
    name: "AuthenticationError",
    code: "unauthorized",
  });
  row(operation, 429, {}, {
    name: "RateLimitError",
    code: "rate_limited",
    retryable: true,
  });
  row(operation, 503, {}, {
    name: "ServiceError",
    code: "service_failure",
    retryable: true,
  });
  row(operation, 404, {}, { name: "ServiceError", code: "unexpected_status" });
  row(operation, 408, {}, {
    name: "ServiceError",
    code: "unexpected_status",
    retryable: true,
  });
}
for (const operation of ["orders.page", "users.page"] as const) {
  row(operation, 400, { message: "bad" }, {
    name: "ValidationError",
    code: "rejected_input",
  });
  row(operation, 403, {}, { name: "PermissionError", code: "forbidden" });
}

Deno.test("users.create() names the existing user in its conflict", async () => {
  const conflict = await failure(
    "users.create",
    () =>
      Response.json({
        message: "exists",
        user_id: "U-1",
        created_at: "2026-01-01",
      }, { status: 409 }),
  );
  assert.ok(conflict instanceof ConflictError);
  assert.equal(conflict.userId, "U-1");
  assert.equal(conflict.createdAt, "2026-01-01");
});

Deno.test("RateLimitError says how long the service asked to wait", async () => {
  const limited = await failure(
    "users.create",
    () => new Response("", { status: 429, headers: { "retry-after": "7" } }),
  );
  assert.ok(limited instanceof RateLimitError);
  assert.equal(limited.retryAfterMs, 7000);
});

Deno.test("OnrampError carries the service's wording and request id", async () => {
  const refused = await failure(
    "orders.page",
    () =>
      Response.json({ message: "no such cursor" }, {
        status: 400,
        headers: { "x-request-id": "R-9" },
      }),
  );
  assert.ok(refused instanceof ValidationError);
  assert.equal(refused.serviceMessage, "no such cursor");
  assert.equal(refused.requestId, "R-9");
  assert.deepEqual(refused.faults, [{
    field: "request",
    rule: "no such cursor",
  }]);
});

const odd: readonly (readonly [string, () => Response, Expected])[] = [
  [
    "an error body that is not JSON",
    () => new Response("boom", { status: 500 }),
    { name: "ServiceError", code: "service_failure", retryable: true },
  ],
  ["an empty error body", () => new Response(null, { status: 502 }), {
    name: "ServiceError",
    code: "service_failure",
    retryable: true,
  }],
  [
    "HTML from a proxy",
    () =>
      new Response("<html>Bad gateway</html>", {
        status: 502,
        headers: { "content-type": "text/html" },
      }),
    { name: "ServiceError", code: "service_failure", retryable: true },
  ],
  ["HTML with 200", () => new Response("<html>Log in</html>"), {
    name: "ResponseError",
    code: "not_json",
  }],
  ["an empty 200", () => new Response(""), {
    name: "ResponseError",
    code: "empty_body",
  }],
  ["a 204", () => new Response(null, { status: 204 }), {
    name: "ResponseError",
    code: "empty_body",
  }],
  ["success: false", () => Response.json({ success: false, data: [] }), {
    name: "ResponseError",
    code: "not_successful",
  }],
  ["JSON of another shape", () => Response.json({ success: true, data: {} }), {
    name: "ResponseError",
    code: "wrong_shape",
  }],
  ["an array", () => Response.json([]), {
    name: "ResponseError",
    code: "wrong_shape",
  }],
  ["null", () => Response.json(null), {
    name: "ResponseError",
    code: "wrong_shape",
  }],
  ["JSON cut short", () => new Response('{"success":true,"da'), {
    name: "ResponseError",
    code: "not_json",
  }],
  [
    "a redirect",
    () =>
      new Response(null, {
        status: 302,
        headers: { location: "http://127.0.0.1:1/steal" },
      }),
    { name: "ResponseError", code: "redirected" },
  ],
  [
    "a permanent redirect",
    () =>
      new Response(null, { status: 308, headers: { location: "/elsewhere" } }),
    { name: "ResponseError", code: "redirected" },
  ],
  ["a body without end", () => new Response("x".repeat(9 * 1024 * 1024)), {
    name: "ResponseError",
    code: "too_large",
  }],
  ["a streamed body without end", () => new Response(endless()), {
    name: "ResponseError",
    code: "too_large",
  }],
];

function endless(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(256 * 1024).fill(32);
  return new ReadableStream({
    pull: (controller) => controller.enqueue(chunk),
  });
}

for (const [name, respond, expected] of odd) {
  for (const operation of operations) {
    Deno.test(`${operation}() ends in ${expected.name} for ${name}`, async () => {
      const error = await failure(operation, respond);
      assert.deepEqual(
        [error.name, error.code, error.retryable],
        [expected.name, expected.code, expected.retryable ?? false],
      );
    });
  }
}

Deno.test("orders.page() refuses an answer without a list and names the place", async () => {
  for (const data of [undefined, null, {}, "A", true]) {
    const error = await failure(
      "orders.page",
      () => Response.json({ success: true, data, total: 1 }),
    );
    assert.equal(error.code, "wrong_shape");
    assert.equal(error.field, "data");
  }
});

/** A server below HTTP, for answers that no HTTP library would send. */
async function rawAnswer(
  send: (connection: Deno.Conn) => Promise<void>,
  options: object,
): Promise<OnrampError> {
  const { OnrampClient } = await import("./client.ts");
  const { apiKey, local } = await import("./service_test.ts");
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    using connection = await listener.accept();
    await connection.read(new Uint8Array(4096));
    await send(connection);
  })();
  const client = new OnrampClient({
    environment: local(
      `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    ),
    apiKey,
    retries: 0,
    ...options,
  });
  const error: unknown = await client.orders.page().catch((caught) => caught);
  await serving.catch(() => {});
  assert.ok(error instanceof OnrampError, String(error));
  return error;
}

const write = (connection: Deno.Conn, text: string) =>
  connection.write(new TextEncoder().encode(text));

Deno.test("orders.page() ends in NetworkError for a truncated body", async () => {
  const error = await rawAnswer(async (connection) => {
    await write(
      connection,
      'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"success":true',
    );
  }, {});
  assert.equal(error.name, "NetworkError");
  assert.equal(error.retryable, true);
  assert.equal(error.status, 200);
});

Deno.test("orders.page() ends in NetworkError when nobody listens", async () => {
  const { OnrampClient } = await import("./client.ts");
  const { apiKey, local } = await import("./service_test.ts");
  // Of a service that no machine offers any more.
  const port = 9;
  const client = new OnrampClient({
    environment: local(`http://127.0.0.1:${port}`),
    apiKey,
    retries: 0,
  });
  await assert.rejects(client.orders.page(), {
    name: "NetworkError",
    status: null,
  });
});

Deno.test("orders.page() ends in TimeoutError for a slow trickle, within its limit", async () => {
  const error = await rawAnswer(async (connection) => {
    await write(connection, "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n");
    // Writing fails as soon as the client has hung up.
    for (let sent = 0; sent < 4999; sent++) {
      await write(connection, " ");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }, { timeoutMs: 150 });
  assert.equal(error.name, "TimeoutError");
  assert.equal(error.code, "timeout");
});

Deno.test("orders.page() ends in TimeoutError at the deadline when headers never come", async () => {
  const error = await rawAnswer(
    () => new Promise((resolve) => setTimeout(resolve, 200)),
    { timeoutMs: 5000, deadlineMs: 100 },
  );
  assert.deepEqual([error.name, error.code], ["TimeoutError", "deadline"]);
});

Deno.test("OnrampClient accepts the documented answer of every call", async () => {
  for (const operation of operations) {
    await using service = serve(() => new Response(answers[operation]));
    await calls[operation](service.client);
    const [request] = service.requests;
    assert.equal(request?.headers.get("x-api-key"), "key-5f1e8c/never+shown=");
  }
});
