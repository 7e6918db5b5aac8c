import assert from "node:assert/strict";
import { createSandbox, type Sandbox } from "../../sandbox/mod.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { until } from "../../tests/kit/until.ts";
import type { Problem } from "../alarms/alarm_message.ts";
import { problemLine } from "./problem.ts";
import type { Sale } from "./sale.ts";
import { startOnramp } from "./start_onramp.ts";
import type { StartOptions } from "./onramp.ts";

const SECRET = "the-secret-in-the-webhook-address";

/** A program against a sandbox, with nothing of this machine's environment. */
function settings(sandbox: Sandbox): StartOptions & {
  readonly onProblem: (problem: Problem) => void;
  readonly told: Problem[];
} {
  const told: Problem[] = [];
  return {
    env: () => undefined,
    databaseUrl: ":memory:",
    apiKey: sandbox.apiKey,
    webhookSecrets: SECRET,
    requestsPerSecond: 1000,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
    onProblem: (problem) => told.push(problem),
    told,
  };
}

const codes = (told: readonly Problem[]) => told.map(({ code }) => code);

/** A customer pays an amount for a sale. */
function pay(sandbox: Sandbox, sale: Sale, currencyAmount: string): string {
  const { orderId } = sandbox.createOrder({
    clickId: sale.clickId,
    sessionId: sale.sessionId,
    currency: "USD",
    currencyAmount,
    commodity: "ETH",
    network: "sepolia",
  });
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.advance(orderId, step);
  }
  return orderId;
}

const TERMS = {
  currency: "USD",
  amount: "49.90",
  asset: "ETH",
  network: "sepolia",
} as const;

/** What a handler throws. */
const NO_PRINTER = new TypeError("no printer");

/** What a page sends when a user clicks. */
const CLICK = {
  method: "POST",
  headers: { "content-type": "application/json", origin: "https://shop" },
  body: '{"input":{"basket":8}}',
};

Deno.test("startOnramp() sells to the page at publicUrl, and tells why it refused a page elsewhere", async () => {
  await using sandbox = createSandbox();
  const { told, ...given } = settings(sandbox);
  await using onramp = await startOnramp({
    ...given,
    publicUrl: "https://shop",
    poll: false,
    sessions: {
      authorise: () => "ada",
      plan: () => ({ reference: "basket-8", ...TERMS }),
    },
  });
  const ask = async (origin: string) => {
    const headers = { ...CLICK.headers, origin };
    const request = new Request("http://10.0.0.7/pay", { ...CLICK, headers });
    return (await onramp.sessions(request)).status;
  };
  assert.equal(await ask("https://shop"), 200);
  assert.equal(await ask("http://10.0.0.7"), 403);
  const [problem] = told.filter(({ code }) => code === "session_failed");
  assert.equal(problem?.level, "warning");
  assert.match(
    problem?.message ?? "",
    /"http:\/\/10\.0\.0\.7", not "https:\/\/shop"; .*publicUrl/,
  );
});

Deno.test("startOnramp() sells, hears, confirms and releases each sale once, sold by the page too, and not what was paid short", async () => {
  await using sandbox = createSandbox();
  const released: (string | null)[] = [];
  const given = settings(sandbox);
  const onramp = await startOnramp({
    ...given,
    on: {
      "order.release.yes": (_, { reference }) => void released.push(reference),
    },
    sessions: {
      authorise: () => "ada",
      plan: ({ user, input }) => ({
        reference: `${user} ${JSON.stringify(input)}`,
        ...TERMS,
      }),
    },
  });
  const sale = await onramp.sell({ reference: "basket-7", ...TERMS });
  const answer = await onramp.sessions(new Request("https://shop/pay", CLICK));
  const { session_id, click_id } = await answer.json();
  const short = await onramp.sell({ reference: "short", ...TERMS });
  const { clickId } = await onramp.expect({
    reference: "no-session",
    ...TERMS,
  });
  const paidShort = pay(sandbox, short, "4.99");
  const orderId = pay(sandbox, sale, "49.90");
  pay(sandbox, { ...sale, sessionId: session_id, clickId: click_id }, "49.90");
  pay(sandbox, { ...sale, sessionId: "s", clickId }, "49.90");
  const { status } = await onramp.webhooks(
    new Request(`https://shop/hooks/${SECRET}`, {
      method: "POST",
      body: JSON.stringify({ type: "order_complete", order: { id: orderId } }),
    }),
  );
  assert.equal(status, 204);
  await until(() => released.length === 3);
  assert.deepEqual(released.toSorted(), [
    'ada {"basket":8}',
    "basket-7",
    "no-session",
  ]);
  const shown = await onramp.orders.get(paidShort);
  assert.deepEqual(
    [shown?.release, shown?.releaseReason],
    ["wait", "not_as_requested"],
  );
  const { found } = await onramp.find("basket-7");
  assert.equal(found.length, 1);
  const { ok, conditions } = await onramp.status();
  assert.ok(ok, JSON.stringify(conditions));
  assert.ok(codes(conditions).includes("polling_works"));
  await until(() => given.told.length > 0);
  await Promise.all([onramp.close(), onramp.close()]);
  assert.deepEqual(given.told.map(problemLine), [
    `rampkit warning order_waits: Order ${paidShort} waits for a person: ` +
    "paid 4.99 of 49.90 USD, short. What to do: Compare the order with what " +
    "you asked for. Deliver what was paid for, or refund.",
  ]);
});

Deno.test("startOnramp() says by default on standard error which order waits for a person, and tells the handler what was asked for", async () => {
  await using sandbox = createSandbox();
  const { onProblem: _, ...given } = settings(sandbox);
  const printed: string[] = [];
  const { error } = console;
  console.error = (line: string) => printed.push(line);
  try {
    const waits: [string | null | undefined, string | null | undefined][] = [];
    const users: (boolean | null | undefined)[] = [];
    await using onramp = await startOnramp({
      ...given,
      on: {
        "order.release.wait": ({ logged }, { askedFor, state }) => {
          waits.push([askedFor?.reference, askedFor?.currencyAmount]);
          // Types follow the key: of a release both are of an order.
          assert.equal(state?.release, logged.release);
        },
        "user.ban.confirmed.banned": (_, { state }) =>
          void users.push(state?.banned),
      },
    });
    const one = await onramp.sell({ reference: "basket-1", ...TERMS });
    const two = await onramp.sell({ reference: "basket-1", ...TERMS });
    const short = await onramp.sell({ reference: "basket-2", ...TERMS });
    const first = pay(sandbox, one, "49.90");
    await until(async () =>
      (await onramp.orders.get(first))?.release === "yes"
    );
    const second = pay(sandbox, two, "49.90");
    const less = pay(sandbox, short, "1.00");
    const lines = () => printed.filter((line) => line.includes("order_waits"));
    await until(() => lines().length === 2 && waits.length === 2);
    const { found } = await onramp.find("basket-1");
    assert.deepEqual(
      found.flatMap((one) => one.entity === "order" ? one.order.orderId : [])
        .toSorted(),
      [first, second].toSorted(),
    );
    assert.deepEqual(waits.toSorted(), [["basket-1", "49.90"], [
      "basket-2",
      "49.90",
    ]]);
    assert.match(
      lines().find((line) => line.includes(second)) ?? "",
      /waits for a person: paid twice, basket-1\. What to do: /,
    );
    assert.match(
      lines().find((line) => line.includes(less)) ?? "",
      /waits for a person: paid 1\.00 of 49\.90 USD, basket-2\. /,
    );
  } finally {
    console.error = error;
  }
});

Deno.test("startOnramp() says at the start that the key is refused or missing, and refuses a placeholder and another environment's ledger", async () => {
  await using sandbox = createSandbox();
  const wrong = settings(sandbox);
  {
    await using _ = await startOnramp({ ...wrong, apiKey: "of-production-1" });
    await until(() => codes(wrong.told).includes("poll_failing"));
  }
  const [first] = wrong.told;
  assert.deepEqual([first?.code, first?.level], ["service_failing", "problem"]);
  assert.match(first?.next ?? "", /RAMPKIT_API_KEY and RAMPKIT_ENVIRONMENT/);
  assert.doesNotMatch(JSON.stringify(wrong.told), /of-production-1/);

  const { told, apiKey: _, webhookSecrets: __, ...rest } = settings(sandbox);
  {
    await using onramp = await startOnramp(rest);
    assert.deepEqual(codes(told), [
      "api_key_missing",
      "webhook_secret_missing",
    ]);
    await assert.rejects(
      onramp.sell({ reference: "basket-7", ...TERMS }),
      /RAMPKIT_API_KEY/,
    );
    await assert.rejects(
      onramp.sessions(new Request("https://shop/pay", CLICK)),
      /pass `sessions`/,
    );
    const answer = await onramp.webhooks(
      new Request("https://shop/hooks/guess", { method: "POST", body: "{}" }),
    );
    assert.equal(answer.status, 404);
    assert.equal((await onramp.status()).ok, false);
  }

  for (const apiKey of ["YOUR_API_KEY", "<key>", "xxxx"]) {
    await assert.rejects(startOnramp({ ...rest, apiKey }), {
      name: "UsageError",
      message: /^Wrong apiKey: it is what a template writes/,
    });
  }

  await using folder = await temporaryFolder();
  const databaseUrl = `file:${folder.path}/ledger.db`;
  const kept = { ...rest, databaseUrl, poll: false };
  await (await startOnramp({ ...kept, environment: "sandbox" })).close();
  await assert.rejects(startOnramp({ ...kept, environment: "production" }), {
    code: "wrong_environment",
  });
  // What was opened before it failed is closed: the file can be opened again.
  await (await startOnramp(kept)).close();
});

Deno.test("startOnramp() tells of a handler that fails, that it works again, and of what was given up", async () => {
  await using sandbox = createSandbox();
  const given = settings(sandbox);
  await using onramp = await startOnramp(given);
  let failures = 1;
  await onramp.on("order.release.yes", () => {
    if (failures-- > 0) throw NO_PRINTER;
  }, { retryDelayMs: () => 1 });
  await onramp.on("order.release.yes", () => {
    throw new Error("no mail server");
  }, { name: "mail", maxAttempts: 1 });
  await assert.rejects(
    onramp.on("order.release.yes", () => {}),
    /two handlers named "order.release.yes"/,
  );
  pay(sandbox, await onramp.sell({ reference: "b-7", ...TERMS }), "49.90");
  const heard = (code: string) =>
    given.told.find((problem) => problem.code === code);
  await until(() =>
    heard("handler_recovered") !== undefined &&
    heard("handler_dead") !== undefined
  );
  const failing = heard("handler_failing");
  assert.equal(failing?.level, "problem");
  assert.match(failing?.message ?? "", /order\.release\.yes: no printer \(at /);
  assert.match(failing?.message ?? "", /start_onramp_test\.ts:\d+:\d+\)$/);
  assert.equal(failing?.error, NO_PRINTER);
  assert.equal(heard("handler_recovered")?.level, "fine");
  const dead = heard("handler_dead");
  assert.match(
    dead?.message ?? "",
    /: mail: no mail server \(at \S+:\d+:\d+\)$/,
  );
  assert.ok(dead);
  assert.match(
    problemLine(dead),
    /^rampkit problem handler_dead: .* What to do: .*rampkit subscriptions retry mail$/,
  );
});

Deno.test("listen() says in one line which port is taken, and what to do", async () => {
  const taken = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response(),
  );
  await using sandbox = createSandbox();
  await using onramp = await startOnramp(settings(sandbox));
  const { port } = taken.addr;
  await assert.rejects(onramp.listen({ port }), {
    code: "EADDRINUSE",
    message: `Cannot listen: port ${port} is taken; pass another to ` +
      "listen({ port }), or 0 for a free one",
  });
  await taken.shutdown();
});

Deno.test("startOnramp() says once that the database has no thread of its own, and what to set", async () => {
  await using sandbox = createSandbox();
  await using folder = await temporaryFolder();
  const given = settings(sandbox);
  await using onramp = await startOnramp({
    ...given,
    databaseUrl: `file:${folder.path}/ledger.db`,
    threadModule: `file://${folder.path}/bundled.js`,
  });
  await onramp.sell({ reference: "basket-7", ...TERMS });
  const [problem, ...others] = given.told;
  assert.deepEqual(others, []);
  assert.deepEqual(
    [problem?.code, problem?.level],
    ["database_thread_missing", "warning"],
  );
  assert.match(problem?.message ?? "", /bundled\.js/);
  assert.match(problem?.next ?? "", /serverExternalPackages.*threadModule/);
  const { conditions } = await onramp.status();
  assert.ok(codes(conditions).includes("database_thread_missing"));
});
