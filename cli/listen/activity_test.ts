import assert from "node:assert/strict";
import type { Transition } from "../../ledger/mod.ts";
import {
  activityLine,
  answeredActivity,
  transitionActivity,
} from "./activity_printer.ts";

const AT = Date.UTC(2026, 10, 22, 10, 31, 2, 123);
const ORDER = "01M7WYY537RGCZBMWCSRKH5NWA";
const WIDE = { columns: null, colour: false };

/** The activity of a delivery with this body. */
function delivered(body: string, status = 204) {
  return answeredActivity({
    delivery: {
      id: "01M7",
      receivedAt: "",
      body: new TextEncoder().encode(body),
    },
    status,
    refusal: null,
    durationMs: 2.6,
  }, AT);
}

Deno.test("answeredActivity() tells type, id, amounts and answer of a delivery", () => {
  const activity = delivered(JSON.stringify({
    type: "order_complete",
    click_id: "c",
    order: {
      id: ORDER,
      base: "ETH",
      base_amount: "0.0012",
      quote: "USD",
      quote_amount: "12.30",
    },
  }));
  assert.equal(
    activityLine(activity, WIDE),
    `10:31:02.123  in   order_complete                     ${ORDER}` +
      "     12.30 USD  0.0012 ETH                204 in 3 ms",
  );
  assert.equal(
    activityLine(activity, { columns: 100, colour: false }),
    `10:31:02  in   order_complete               ${ORDER}     12.30 USD  ` +
      "204 in 3 ms",
  );
  assert.equal(
    activityLine(activity, { columns: 80, colour: false }),
    `10:31:02  in   order_complete               ${ORDER}  204`,
  );
});

Deno.test("answeredActivity() names the user of a user's event", () => {
  for (
    const body of [
      `{"type":"login","click_id":"","user":{"user_id":"u-1"}}`,
      `{"type":"otp_status","user_id":"u-1","click_id":"","status":"requested"}`,
    ]
  ) {
    const { entity, id } = delivered(body);
    assert.deepEqual([entity, id], ["user", "u-1"]);
  }
  const { entity, id } = delivered(`{"type":"login","click_id":""}`);
  assert.deepEqual([entity, id], [null, null]);
});

Deno.test("answeredActivity() says what a body is that is no documented event, and why a request was refused", () => {
  assert.deepEqual(
    [delivered("not JSON").type, delivered("not JSON").detail],
    ["quarantined", "It is not JSON"],
  );
  assert.equal(delivered(`{"type":"coffee_brewed"}`).type, "other");
  const refused = answeredActivity({
    delivery: null,
    status: 404,
    refusal: "wrong_secret",
    durationMs: 0.1,
  }, AT);
  assert.equal(
    activityLine(refused, WIDE).replace(/ +/g, " "),
    "10:31:02.123 in refused 404 in 0 ms wrong_secret",
  );
});

Deno.test("activityLine() lets no text from outside colour, move or grow without end", () => {
  const hostile = delivered(JSON.stringify({
    type: "order_complete",
    click_id: "",
    order: {
      id: `\u001b[31m${"x".repeat(100_000)}`,
      quote: "\u202eUSD\n",
      quote_amount: "9".repeat(50_000),
    },
  }));
  const line = activityLine(hostile, { columns: null, colour: true });
  assert.ok(line.length < 400, String(line.length));
  assert.ok(!line.includes("\u001b[31mx"));
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(line.replace(/\u001b\[\d+m/g, ""), /[\u0000-\u001f]/);
});

Deno.test("activityLine() colours on a terminal that wants it only", () => {
  const activity = delivered(`{"type":"login","click_id":""}`, 503);
  assert.ok(
    activityLine(activity, { columns: 200, colour: true })
      .includes("\u001b[31m503 in 3 ms\u001b[39m"),
  );
  assert.ok(!activityLine(activity, WIDE).includes("\u001b"));
});

Deno.test("transitionActivity() says whether to release once it is confirmed", () => {
  const transition = {
    key: `order:${ORDER}:confirmed.success`,
    entity: "order",
    machine: "order",
    id: ORDER,
    trust: "confirmed",
    status: "success",
    entry: 1,
    previous: null,
    reverses: [],
    logged: null,
    after: [],
    position: 7,
    recordedAt: "2026-11-22T10:31:02.123Z",
    seq: 3,
    live: true,
  } satisfies Transition;
  const state = {
    release: "yes",
    currency: "USD",
    currencyAmount: "12.30",
    commodity: "ETH",
    cryptoAmount: "0.0012",
  } as Parameters<typeof transitionActivity>[1];
  assert.deepEqual(
    [
      transitionActivity(transition, state, AT).type,
      transitionActivity(transition, state, AT).detail,
      transitionActivity({ ...transition, trust: "claimed" }, state, AT).detail,
      transitionActivity(
        { ...transition, entity: "user", machine: "fkyc" },
        null,
        AT,
      ).type,
    ],
    [
      "order.confirmed.success",
      "release: yes",
      null,
      "user.fkyc.confirmed.success",
    ],
  );
});
