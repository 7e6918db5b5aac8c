import assert from "node:assert/strict";
import { inspect } from "node:util";
import type { CardInput } from "./cards.ts";
import { OnrampClient } from "./client.ts";
import type { Operation } from "./call_options.ts";
import { cleanCause, redactor } from "./transport.ts";
import {
  answers,
  apiKey,
  calls,
  card,
  cardNumber,
  type Handler,
  inject,
  local,
  operations,
  serve,
} from "./service_test.ts";

/** Everything a value can be turned into for people or logs. */
function printed(value: unknown): string {
  const error = value instanceof Error ? value : null;
  const own = typeof value === "object" && value !== null
    ? Object.getOwnPropertyNames(value).map((name) => {
      const held: unknown = Reflect.get(value, name);
      return `${name}=${
        typeof held === "object" ? inspect(held, { depth: 9 }) : String(held)
      }`;
    })
    : [];
  return [
    Deno.inspect(value, { depth: 20, showHidden: true, getters: true }),
    inspect(value, { depth: 20, showHidden: true, getters: true }),
    JSON.stringify(value),
    String(value),
    ...own,
    error?.stack,
    error?.message,
    error?.cause instanceof Error ? printed(error.cause) : String(error?.cause),
  ].join("\n");
}

const grouped = cardNumber.replace(/(\d{4})(?=\d)/g, "$1 ");
const secrets = [
  apiKey,
  encodeURIComponent(apiKey),
  cardNumber,
  grouped,
  grouped.replaceAll(" ", "-"),
];

function assertClean(
  text: string,
  where: string,
  known: readonly string[] = secrets,
): void {
  for (const secret of known) {
    assert.ok(!text.includes(secret), `${where} shows ${secret}`);
  }
}

const echo = `${apiKey} ${
  encodeURIComponent(apiKey)
} ${cardNumber} ${grouped} ${grouped.replaceAll(" ", "-")}`;
const echoing = (status: number): Handler => () =>
  Response.json({
    status: "error",
    message: echo,
    error_description: echo,
    field: echo,
    user_id: echo,
    created_at: echo,
    request_id: echo,
    success: false,
  }, { status, headers: { "x-request-id": `${apiKey} ${cardNumber}` } });

const failures: Readonly<Record<string, Handler>> = {
  ...Object.fromEntries(
    [200, 400, 401, 403, 404, 409, 422, 429, 500].map((status) => [
      `an echo with ${status}`,
      echoing(status),
    ]),
  ),
  "a message that echoes alone": () =>
    Response.json({
      message: `unauthorized: ${apiKey}`,
      error_description: cardNumber,
    }, { status: 400 }),
  "an invalid request that echoes": () =>
    Response.json({ message: `invalid request: ${echo}` }, { status: 400 }),
  "text that echoes": () => new Response(echo, { status: 500 }),
  "JSON text that echoes": () => Response.json(echo, { status: 400 }),
  "another shape that echoes": () =>
    Response.json({ [echo]: echo, data: { [echo]: 1 } }),
  "a redirect that echoes": () =>
    new Response(null, {
      status: 307,
      headers: { location: `http://x/${encodeURIComponent(echo)}` },
    }),
  "a network error that echoes": () => {
    const error = new TypeError(`failed: ${echo}`, { cause: new Error(echo) });
    error.name = apiKey;
    throw error;
  },
  "something thrown that is no error": () => {
    throw echo;
  },
};

/** Runs with every console method recorded. */
async function withConsole(run: () => Promise<void>): Promise<string> {
  const lines: string[] = [];
  const names = [
    "log",
    "info",
    "warn",
    "error",
    "debug",
    "trace",
    "dir",
  ] as const;
  const kept = names.map((name) => console[name]);
  for (const name of names) {
    console[name] = (...args: unknown[]) =>
      void lines.push(args.map(printed).join(" "));
  }
  try {
    await run();
  } finally {
    for (const [at, name] of names.entries()) {
      const method = kept[at];
      if (method !== undefined) console[name] = method;
    }
  }
  return lines.join("\n");
}

for (const [name, handler] of Object.entries(failures)) {
  Deno.test(`no secret is shown after ${name}`, async () => {
    for (const operation of operations) {
      // Only a call that was given a card can know which digits are one.
      const known = operation === "cards.register"
        ? secrets
        : secrets.slice(0, 2);
      const seen: unknown[] = [];
      const logged = await withConsole(async () => {
        const { client } = inject(handler, {
          hookBodies: true,
          onRequest: (info) => seen.push(info),
          onResponse: (info) => seen.push(info),
        });
        const error: unknown = await calls[operation](client).then(
          () => assert.fail(`${operation} succeeded`),
          (caught: unknown) => caught,
        );
        assertClean(printed(error), `${operation} error`, known);
        assertClean(printed(client), "client", known);
      });
      assertClean(logged, "console", known);
      assert.equal(seen.length, 2);
      assertClean(printed(seen), `${operation} hooks`, known);
    }
  });
}

Deno.test("OnrampClient shows no secret after calls that succeed", async () => {
  for (const operation of operations) {
    const seen: unknown[] = [];
    await using service = serve(() => new Response(answers[operation]), {
      hookBodies: true,
      onRequest: (info) => seen.push(info),
      onResponse: (info) => seen.push(info),
    });
    const result = await calls[operation](service.client);
    assertClean(printed(result), "result");
    assertClean(printed(seen), "hooks");
    assertClean(printed(service.client), "client");
    assert.equal(service.requests[0]?.headers.get("x-api-key"), apiKey);
  }
});

Deno.test("OnrampClient shows no secret when it refuses the input", async () => {
  const { client, requests } = inject(() => new Response("{}"));
  const wrong: unknown[] = [
    { ...card, card_number: `${cardNumber}${cardNumber}` },
    { ...card, exp_month: cardNumber, exp_year: cardNumber },
    { ...card, [cardNumber]: 1 },
    {
      ...card,
      billing_address: {
        ...card.billing_address,
        city: cardNumber,
        [cardNumber]: 1,
      },
    },
  ];
  for (const input of wrong) {
    const error: unknown = await client.cards.register(input as CardInput)
      .catch((caught: unknown) => caught);
    assert.ok(error instanceof Error);
    assertClean(printed(error), "refusal");
  }
  assert.equal(requests.length, 0);
});

Deno.test("OnrampClient refuses a key that no header can carry, without showing it", () => {
  for (
    const key of [
      "",
      "two words",
      "line\nend-5f1e8c",
      "schl\u00fcssel-5f1e8c",
      undefined,
      5,
    ]
  ) {
    assert.throws(
      () =>
        new OnrampClient({
          environment: local("http://x.test"),
          apiKey: key as string,
        }),
      (error: Error) => {
        assert.equal(error.name, "TypeError");
        if (typeof key === "string" && key !== "") {
          assert.ok(!printed(error).includes(key));
          assert.ok(!printed(error).includes("5f1e8c"));
        }
        return true;
      },
    );
  }
});

Deno.test("OnrampClient does not follow a redirect, so the key goes nowhere else", async () => {
  for (const operation of operations) {
    await using other = serve(() => new Response("{}"));
    await using service = serve(() =>
      new Response(null, { status: 302, headers: { location: other.url } })
    );
    await assert.rejects(calls[operation](service.client), {
      code: "redirected",
    });
    assert.equal(other.requests.length, 0);
  }
});

Deno.test("OnrampClient sends cards to their own host, and the rest to the partner API", async () => {
  const hosts: Record<Operation, string> = {
    "sessions.create": "/api/external/hpp/create-session",
    "orders.page": "/api/external/orders",
    "users.page": "/api/external/users",
    "users.create": "/api/external/users/create",
    "cards.register": "/cards/api/v1/partner/register",
  };
  for (const operation of operations) {
    await using service = serve(() => new Response(answers[operation]));
    await calls[operation](service.client);
    assert.equal(service.requests[0]?.path, hosts[operation]);
  }
});

Deno.test("redactor() and cleanCause() hide secrets in any writing, and keep the rest", () => {
  const redact = redactor([apiKey, cardNumber], true);
  assert.equal(redact(`a ${apiKey} b`), "a [hidden] b");
  assert.equal(redact(`n ${grouped}!`), "n [hidden]!");
  assert.equal(redact("order 12345678901"), "order 12345678901");
  const cause = cleanCause(new TypeError(`x ${apiKey}`), redact);
  assert.deepEqual([cause.name, cause.message, cause.cause], [
    "TypeError",
    "x [hidden]",
    undefined,
  ]);
});
