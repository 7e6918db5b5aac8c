import assert from "node:assert/strict";
import {
  ASSUMPTION_NAMES,
  type AssumptionName,
  ASSUMPTIONS,
} from "../../core/assumptions/assumptions.ts";
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  virtualClock,
} from "../../sandbox/mod.ts";
import { resolveEnvironment } from "../../client/mod.ts";
import {
  conform,
  judge,
  readTranscript,
  type TestRequest,
  writeTranscript,
} from "../../sync/for_conform.ts";
import { fieldName, message, timeForm, word } from "../../sync/testing/mod.ts";
import { askByClient } from "./ask_by_client.ts";
import { isThorough } from "../../tests/kit/thorough.ts";

/** What a transcript begins with. */
const HEAD = {
  form: 1,
  version: "0.1.0",
  environment: "sandbox",
  day: "2026-01-01",
} as const;

const START = Date.UTC(2026, 0, 1);

/** A service with a past: orders of every status, users with cards. */
async function sandboxWithPast(options: SandboxOptions = {}): Promise<Sandbox> {
  const clock = virtualClock(START);
  const sandbox = createSandbox({ seed: 7, ...options, clock });
  const visits = sandbox.populate({ orders: 60, openShare: 0.2 });
  await clock.advance(6 * 3_600_000);
  await visits;
  return sandbox;
}

/** Looks at a sandbox: names by verdict. */
async function look(
  options: SandboxOptions = {},
  { plain = false }: { readonly plain?: boolean } = {},
) {
  const requests: Request[] = [];
  let test: TestRequest | "none_came" = "none_came";
  await using sandbox = await sandboxWithPast({
    ...options,
    fetch: (input, init) => {
      const { headers } = new Request(input, init);
      const body = init?.body;
      if (String(body).includes('"type":"test"')) {
        test = {
          headers: [...headers.keys()],
          contentType: headers.get("content-type"),
          text: String(body),
        };
      }
      return Promise.resolve(new Response(null, { status: 204 }));
    },
  });
  sandbox.setWebhookUrl("http://partner/webhooks/secret");
  const pressed = sandbox.pressTest();
  await (sandbox.clock as ReturnType<typeof virtualClock>).advance(1000);
  await pressed;
  let askedMs = 0;
  const observations = await conform({
    ask: askByClient({
      environment: resolveEnvironment(sandbox.assets),
      apiKey: sandbox.apiKey,
      requestsPerSecond: 4,
      now: () => sandbox.now(),
      steadyNow: () => askedMs,
      sleep: (ms) => {
        askedMs += ms;
        return Promise.resolve();
      },
      fetch: (input, init) => {
        const request = new Request(input, init);
        requests.push(request);
        return sandbox.fetch(request);
      },
      sessions: !plain,
      wrongKey: !plain,
      signal: new AbortController().signal,
    }),
    assets: sandbox.assets,
    test: () => test,
    now: () => sandbox.now(),
  });
  const judgements = judge(observations);
  const named = (verdict: string) =>
    judgements.filter((one) => one.verdict === verdict).map(({ name }) => name);
  return {
    orders: sandbox.orders(),
    users: sandbox.users(),
    requests,
    askedMs,
    observations,
    judgements,
    named,
  };
}

Deno.test("conform() agrees with the sandbox in every row that can be seen", async () => {
  for (const assets of ["sandbox", "production"] as const) {
    const { named, judgements } = await look({ assets });
    assert.deepEqual(named("differs"), []);
    // What the sandbox has no order, user or ledger for.
    const unseen = judgements.flatMap((one) =>
      one.verdict === "not_seen" ? [one.reason] : []
    );
    assert.deepEqual(
      new Set(unseen),
      new Set([
        "no_ledger",
        "other_environment",
        "only_by_failing",
        "only_in_widget",
        "only_by_person",
      ]),
    );
  }
});

Deno.test("conform() takes less than three minutes at the default rate", async () => {
  const { askedMs, requests } = await look();
  assert.ok(requests.length > 50);
  assert.ok(askedMs < 180_000, `${requests.length} requests, ${askedMs} ms`);
});

Deno.test("conform() reads, creates sessions where asked to, and does nothing else", async () => {
  const { requests } = await look();
  const asked = requests.map(({ method, url }) =>
    `${method} ${new URL(url).pathname}`
  );
  assert.deepEqual([...new Set(asked)].sort(), [
    "GET /api/external/orders",
    "GET /api/external/users",
    "POST /api/external/hpp/create-session",
  ]);
  const keys = requests.map(({ headers }) => headers.get("x-api-key"));
  assert.deepEqual(
    keys.slice(0, -1).filter((key) => key !== "sandbox-key"),
    [],
  );
  assert.notEqual(keys.at(-1), "sandbox-key");
});

Deno.test("conform() creates no session and tries no wrong key unless asked to", async () => {
  const { requests, named } = await look({}, { plain: true });
  assert.ok(requests.every(({ method }) => method === "GET"));
  assert.ok(
    requests.every(({ headers }) => headers.get("x-api-key") === "sandbox-key"),
  );
  assert.ok(named("not_seen").includes("session_simple"));
  assert.ok(named("not_seen").includes("wrong_key_refused"));
});

Deno.test("a transcript holds no key, id, amount, address, transaction or phone", async () => {
  const { observations, orders, users } = await look();
  const text = writeTranscript({ ...HEAD, observations });
  assert.ok(text.length < 16_384, `${text.length} characters`);
  const secrets = [
    "sandbox-key",
    ...orders.flatMap((order) => [
      order.orderId,
      order.externalOrderId,
      order.clickId,
      order.userId,
      order.cardId,
      order.address,
      order.txId,
      order.cryptoAmount,
      order.currencyAmount,
    ]),
    ...users.flatMap((user) => [user.userId, user.phone]),
  ].filter((one) => one.length > 4);
  assert.ok(secrets.length > 300);
  assert.deepEqual(secrets.filter((one) => text.includes(one)), []);
});

Deno.test("a transcript names a field or word that is new, unless it could name somebody", () => {
  assert.equal(fieldName("refund_state"), "refund_state");
  assert.equal(fieldName("01KA0000000000000000000ABC"), "(name of 26)");
  assert.equal(word("refunded", []), "refunded");
  assert.equal(word("Jane9912", []), "(text of 8)");
  assert.equal(
    timeForm("2026-01-02T03:04:05.678Z"),
    "9999-99-99T99:99:99.999Z",
  );
  assert.equal(timeForm("a person"), "(text of 8)");
  assert.equal(
    message({
      message: "invalid: 01KA0000000000000000000ABC of jane@shop.example",
    }),
    "invalid: * of *",
  );
});

Deno.test("a transcript judged again gives the same table", async () => {
  const { observations, judgements } = await look({
    differs: ["orders_by_status"],
  });
  const text = writeTranscript({ ...HEAD, observations });
  const again = readTranscript(text);
  assert.deepEqual(judge(again.observations), judgements);
  assert.equal(writeTranscript(again), text);
});

Deno.test("readTranscript() says what is wrong with a text that is none", () => {
  const wrong = (text: string, expected: RegExp) =>
    assert.throws(() => readTranscript(text), expected);
  wrong("no JSON", /it is not JSON/);
  wrong("{}", /its form is missing/);
  wrong('{"form":2}', /its form is 2/);
  wrong('{"form":1}', /are missing/);
  const head = '"form":1,"version":"1","environment":"sandbox","day":"x"';
  wrong(
    `{${head},"observations":{"orders_total":{"facts":{"a":{}}}}}`,
    /"orders_total" has neither/,
  );
});

Deno.test("judge() leaves open what a transcript of another version lacks", () => {
  const [one] = judge({ order_fields_documented: { facts: {} } });
  assert.deepEqual(one, {
    name: "order_fields_documented",
    verdict: "not_seen",
    reason: "not_in_transcript",
  });
});

const TRANSCRIPTS = new URL(
  "../../sync/conformance/transcripts/",
  import.meta.url,
);

Deno.test("the sandbox is as each stored transcript shows the service", async () => {
  if (Deno.env.get("RAMPKIT_WRITE_TABLES") === "1") {
    const { observations } = await look();
    await Deno.writeTextFile(
      new URL("sandbox.json", TRANSCRIPTS),
      writeTranscript({ ...HEAD, observations }),
    );
  }
  let stored = 0;
  for await (const { name } of Deno.readDir(TRANSCRIPTS)) {
    if (!name.endsWith(".json")) continue;
    stored++;
    const text = await Deno.readTextFile(new URL(name, TRANSCRIPTS));
    const { environment, observations } = readTranscript(text);
    const { judgements, observations: ours } = await look({
      assets: environment,
    });
    const shown = new Map(
      judge(observations).map((one) => [one.name, one.verdict]),
    );
    for (const one of judgements) {
      const verdict = shown.get(one.name);
      if (one.verdict === "not_seen" || verdict === "not_seen") continue;
      assert.equal(one.verdict, verdict, `${name}: ${one.name}`);
    }
    // Its own transcript it repeats to the letter.
    if (name === "sandbox.json") assert.deepEqual(ours, observations);
  }
  assert.ok(stored > 0);
});

Deno.test("conform() finds exactly the row in which the sandbox differs", async () => {
  const wrong: Partial<Record<AssumptionName, readonly string[]>> = {};
  const switches = ASSUMPTION_NAMES.filter((name) =>
    ["reading", "session", "wrong_key", "test_event"].includes(
      ASSUMPTIONS[name].seenBy,
    )
  );
  assert.ok(switches.length > 80);
  const tried = switches.filter((_, at) => isThorough || at % 5 === 0);
  for (const name of tried) {
    const assets = ASSUMPTIONS[name].only ?? "sandbox";
    const { named } = await look({ differs: [name], assets });
    const differing = named("differs");
    if (differing.join() !== name) wrong[name] = differing;
  }
  assert.deepEqual(wrong, {});
});

Deno.test("createSandbox() refuses to differ in what has no name", () => {
  assert.throws(
    () => createSandbox({ differs: ["the_weather"] }),
    /Cannot differ in the_weather: it is not one of order_fields_documented/,
  );
});
