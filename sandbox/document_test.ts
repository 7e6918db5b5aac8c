// Rows of the tables of the service's document, asked of the sandbox. The
// errors of users and cards, the ladder and the widget have files of their own.
import assert from "node:assert/strict";
import { assets } from "../core/assets/assets.ts";
import type { AssetTable } from "../core/assets/environment.ts";
import { failReasons } from "../core/assets/fail_reason.ts";
import { REJECT_TYPES } from "../core/webhook_event/webhook_event.ts";
import { createSandbox, type SandboxOptions, virtualClock } from "./mod.ts";
import { addressOf } from "./factory.ts";

// deno-lint-ignore no-explicit-any -- answers are what is looked at
type Body = any;

function scene(options: SandboxOptions = {}) {
  const sandbox = createSandbox({
    clock: virtualClock(Date.UTC(2026, 0, 1)),
    ...options,
  });
  async function ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = { "x-api-key": sandbox.apiKey },
  ): Promise<{ status: number; body: Body }> {
    const response = await sandbox.fetch(
      new Request(`http://sandbox${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    return { status: response.status, body: await response.json() };
  }
  return { sandbox, ask };
}

const ENDPOINTS: readonly (readonly [string, string])[] = [
  ["POST", "/api/external/hpp/create-session"],
  ["GET", "/api/external/orders"],
  ["GET", "/api/external/users"],
  ["POST", "/api/external/users/create"],
  ["POST", "/api/v1/partner/register"],
];

Deno.test("each endpoint of the document answers its method, with JSON, to the key under any case of its header", async () => {
  const { sandbox, ask } = scene();
  for (const [method, path] of ENDPOINTS) {
    for (const name of ["X-Api-Key", "X-API-KEY", "x-api-key"]) {
      const body = method === "POST" ? {} : undefined;
      const keyed = await ask(method, path, body, { [name]: sandbox.apiKey });
      assert.ok([200, 400].includes(keyed.status), `${method} ${path}`);
    }
    for (const key of [{}, { "x-api-key": "" }, { "x-api-key": "other" }]) {
      const body = method === "POST" ? {} : undefined;
      const { status } = await ask(method, path, body, key as never);
      assert.equal(status, path.includes("register") ? 403 : 401, path);
    }
    const other = method === "POST" ? "PUT" : "DELETE";
    assert.equal((await ask(other, path)).status, 404, `${other} ${path}`);
  }
});

for (const table of ["production", "sandbox"] satisfies AssetTable[]) {
  Deno.test(`a session takes each asset of the table of ${table}, sells it with its precision, and takes no other`, async () => {
    const { sandbox, ask } = scene({ assets: table });
    const path = "/api/external/hpp/create-session";
    for (const { commodity, network, decimals } of assets[table]) {
      const session = {
        flow_type: "simple_full_restrict",
        ...{ commodity, network, currency: "USD", currency_amount: 30 },
        wallet_address: addressOf(network, "5a".repeat(20)),
      };
      const { status, body } = await ask("POST", path, session);
      assert.equal(status, 200, `${commodity} on ${network}: ${body.message}`);
      const order = sandbox.createOrder({ sessionId: body.sessionId });
      const { cryptoAmount, network: sold } = order;
      assert.equal(sold, network);
      const digits = cryptoAmount.split(".")[1]?.length ?? 0;
      assert.ok(digits <= decimals, `${cryptoAmount} ${commodity}`);
    }
    for (
      const [commodity, network] of [["DOGE", "dogecoin"], ["ETH", "moon"]]
    ) {
      const asked = { flow_type: "simple", commodity, network };
      assert.equal((await ask("POST", path, asked)).status, 400);
    }
  });
}

/** What an order's row has: the kind of each field, as the document says. */
const ORDER: Readonly<Record<string, string>> = {
  ...{ order_id: "string", click_id: "string", external_order_id: "string" },
  ...{ currency: "string", currency_amount: "number", crypto: "string" },
  ...{ crypto_amount: "number", user_id: "string", status: "string" },
  ...{ card_id: "string", created_at: "time", changed_at: "time" },
  ...{ partner_fee: "number", partner_fee_percent: "number" },
  ...{ service_fee: "number", service_fee_percent: "number" },
  ...{ tx_id: "string", processed_through: "string", card_brand: "string" },
  ...{ fail_reason: "string", payment_type: "string", address: "string" },
  ...{ sc_input_data: "string", additional_data: "any" },
};

const MAY_BE_ABSENT = /fee|processed_through|sc_input_data/;

const USER: Readonly<Record<string, string>> = {
  ...{ user_id: "string", country: "string", phone: "string" },
  ...{ phone_country: "string", lkyc_status: "string", fkyc_status: "string" },
  ...{ banned: "boolean", created_at: "iso", limits: "object" },
  linked_payment_methods: "object",
};

function checkRow(row: Body, kinds: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(row)) assert.ok(name in kinds, name);
  for (const [name, kind] of Object.entries(kinds)) {
    const value = row[name];
    if (value === undefined && MAY_BE_ABSENT.test(name)) continue;
    if (kind === "time") {
      assert.match(value, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/, name);
    } else if (kind === "iso") {
      assert.match(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, name);
    } else if (kind !== "any") assert.equal(typeof value, kind, name);
  }
}

Deno.test("each row of orders and users has the document's fields, each of its kind, in the document's envelope", async () => {
  const { sandbox, ask } = scene();
  const untilMs = sandbox.now();
  sandbox.backfill({ orders: 60, fromMs: untilMs - 86_400_000, untilMs });
  const seen = new Set<string>();
  let cursor = "";
  do {
    const { body } = await ask(
      "GET",
      `/api/external/orders?limit=20&cursor_id=${cursor}`,
    );
    assert.deepEqual(
      Object.keys(body).sort(),
      ["data", "next_cursor_id", "success", "total"],
    );
    assert.deepEqual([body.success, body.total], [true, 60]);
    for (const row of body.data) {
      checkRow(row, ORDER);
      Object.keys(row).forEach((name) => seen.add(name));
      assert.match(row.currency, /^[a-z]{3}$/);
      assert.match(row.crypto, /^[^.]+\.(simple|sc)\.[^.]+$/);
      assert.ok(["VISA", "MASTERCARD"].includes(row.card_brand));
    }
    cursor = body.next_cursor_id;
  } while (cursor !== "");
  assert.deepEqual([...seen].sort(), Object.keys(ORDER).sort());
  const { body } = await ask("GET", "/api/external/users?limit=20");
  assert.deepEqual(Object.keys(body).sort(), ["data", "success", "total"]);
  for (const row of body.data) {
    checkRow(row, USER);
    assert.match(row.country, /^[A-Z]{3}$/);
    assert.match(row.phone_country, /^[A-Z]{2}$/);
    assert.match(row.phone, /^\+\d+\*+\d+$/);
    for (const amount of Object.values(row.limits)) {
      assert.match(String(amount), /^\d+\.\d\d$/);
    }
    for (const { method, cards } of row.linked_payment_methods) {
      assert.equal(method, "bank_card");
      for (const card of cards) {
        checkRow(card, {
          ...{ brand: "string", card_id: "string", created_at: "iso" },
          last_digits: "string",
        });
      }
    }
  }
});

Deno.test("both lists show 10 rows unless asked, 0 to 20 when asked, newest first unless asked", async () => {
  const { sandbox, ask } = scene();
  for (let at = 0; at < 25; at++) sandbox.createOrder({}, at * 60_000);
  for (const path of ["/api/external/orders", "/api/external/users"]) {
    const rows = async (query: string) =>
      (await ask("GET", `${path}?${query}`)).body.data;
    assert.equal((await rows("")).length, 10);
    for (const limit of [0, 1, 19, 20]) {
      assert.equal((await rows(`limit=${limit}`)).length, limit, path);
    }
    for (const wrong of ["21", "-1", "1.5", "x"]) {
      assert.equal((await ask("GET", `${path}?limit=${wrong}`)).status, 400);
    }
    const times = (await rows("limit=20")).map((row: Body) => row.created_at);
    assert.deepEqual(times, times.toSorted().reverse());
    const old = (await rows("limit=20&order_by=asc"))
      .map((row: Body) => row.created_at);
    assert.deepEqual(old, old.toSorted());
    assert.equal((await rows("limit=20&offset=20")).length, 5);
  }
});

Deno.test("an order passes each status of the document", async () => {
  const { sandbox, ask } = scene();
  const shown = async (orderId: string) =>
    (await ask("GET", `/api/external/orders?search_by=${orderId}`)).body
      .data[0].status;
  const { orderId } = sandbox.createOrder();
  const seen = [await shown(orderId)];
  for (const step of ["pay", "authorise", "complete", "cancel"] as const) {
    sandbox.advance(orderId, step);
    seen.push(await shown(orderId));
  }
  const failed = sandbox.createOrder();
  sandbox.advance(failed.orderId, "fail");
  seen.push(await shown(failed.orderId));
  assert.deepEqual(seen, [
    ...["created", "progress", "pending", "success", "cancelled", "failed"],
  ]);
});

Deno.test("an order fails with each payment error of the document, and is found by it", async () => {
  const { sandbox, ask } = scene();
  assert.equal(failReasons.length, 15);
  for (const failReason of failReasons) {
    const { orderId } = sandbox.createOrder();
    sandbox.advance(orderId, "pay");
    sandbox.advance(orderId, "fail", { failReason });
    const path = `/api/external/orders?fail_reason=${failReason}`;
    const { body } = await ask("GET", path);
    assert.deepEqual(
      body.data.map((row: Body) => [row.order_id, row.fail_reason, row.tx_id]),
      [[orderId, failReason, ""]],
    );
  }
});

Deno.test("a failed verification is announced with each reason of the document", () => {
  const { sandbox } = scene();
  const { userId } = sandbox.createUser();
  const reasons = Object.keys(REJECT_TYPES);
  assert.equal(reasons.length, 11);
  for (const reject_type of reasons) {
    sandbox.trigger({ type: "verify_failed", userId, fields: { reject_type } });
  }
  assert.deepEqual(
    sandbox.deliveries().map(({ body }) => JSON.parse(body).reject_type),
    reasons,
  );
  const own = [{}, { fkyc: "retry" }].map((user) => {
    const made = sandbox.createUser(user);
    sandbox.advanceUser(made.userId, "verify_failed");
    return JSON.parse(sandbox.deliveries().at(-1)?.body ?? "").reject_type;
  });
  assert.deepEqual(own, ["LKYC_FAILED_GENERAL", "FKYC_FAILED_GENERAL"]);
});
