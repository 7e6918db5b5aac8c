import fc from "fast-check";
import assert from "node:assert/strict";
import {
  isOrderEvent,
  isOtpStatusEvent,
  isRecognised,
  isTestEvent,
  isUserEvent,
  isVerifyFailedEvent,
  WEBHOOK_TYPES,
  type WebhookEvent,
  type WebhookType,
  webhookType,
} from "./webhook_event.ts";
import { parseWebhook, readWebhook } from "./parse_webhook.ts";

const USER = {
  user_id: "01J0000000000000000000USER",
  verification_status: {
    fkyc: { state: "retry" },
    lkyc: { state: "success" },
  },
};
const ORDER = {
  id: "01J00000000000000000000RDR",
  base: "POL",
  base_amount: "12.345678901234567891",
  quote: "USD",
  quote_amount: "12.30",
  address: "0xabc",
  transaction_id: null,
  external_order_id: "A1B2C3",
};
const PARTNER_DATA = { sc_address: "0xdef", sc_input_data: "0x00" };
const SESSION = "0b1e7f2e-1111-4222-8333-444455556666";

const USER_TYPES = [
  "registration",
  "login",
  "logout",
  "card_added",
  "verify_start",
  "verify_retry",
  "verify_success",
] as const;
const ORDER_TYPES = [
  "payment_started",
  "transfer_started",
  "order_complete",
  "order_failed",
  "order_cancelled",
] as const;

function unrecognisedReasons(value: unknown): readonly string[] {
  const webhook = readWebhook(value);
  assert(webhook.type === "unrecognised");
  return webhook.reasons;
}

for (const type of USER_TYPES) {
  Deno.test(`readWebhook() reads ${type} in both flavours and the earlier form`, () => {
    assert.deepEqual(
      readWebhook({
        type,
        click_id: "c",
        hpp_session_id: SESSION,
        user: USER,
        later: 1,
      }),
      {
        type,
        click_id: "c",
        flavour: "fiatOnramp",
        hpp_session_id: SESSION,
        user: USER,
      },
    );
    assert.deepEqual(readWebhook({ type, click_id: "c", user: USER }), {
      type,
      click_id: "c",
      flavour: "nftCheckout",
      user: USER,
    });
    assert.deepEqual(readWebhook({ type, click_id: "c" }), {
      type,
      click_id: "c",
      flavour: null,
    });
  });
}

for (const type of ORDER_TYPES) {
  Deno.test(`readWebhook() reads ${type} in both flavours, with and without a user`, () => {
    assert.deepEqual(
      readWebhook({
        type,
        click_id: "",
        hpp_session_id: SESSION,
        user: USER,
        order: ORDER,
      }),
      {
        type,
        click_id: "",
        flavour: "fiatOnramp",
        order: ORDER,
        hpp_session_id: SESSION,
        user: USER,
      },
    );
    const order = { ...ORDER, partner_data: PARTNER_DATA };
    assert.deepEqual(readWebhook({ type, click_id: "c", order }), {
      type,
      click_id: "c",
      flavour: "nftCheckout",
      order,
    });
  });

  Deno.test(`readWebhook() does not take ${type} without an order id for an order event`, () => {
    assert.deepEqual(unrecognisedReasons({ type, order: { id: "" } }), [
      `The order.id of ${type} is empty`,
    ]);
    assert.deepEqual(unrecognisedReasons({ type, order: {} }), [
      `The order.id of ${type} is missing, not a string`,
    ]);
    assert.deepEqual(unrecognisedReasons({ type, order: { id: 7 } }), [
      `The order.id of ${type} is a number, not a string`,
    ]);
    for (const order of [undefined, null, [], "x", 3]) {
      assert.equal(unrecognisedReasons({ type, order }).length, 1);
    }
  });
}

Deno.test("readWebhook() keeps the error_code of order_failed and a set transaction_id", () => {
  const order = {
    ...ORDER,
    error_code: "Do not honour",
    transaction_id: "0x1",
  };
  const webhook = readWebhook({ type: "order_failed", click_id: "", order });
  assert(webhook.type === "order_failed");
  assert.equal(webhook.order.error_code, "Do not honour");
  assert.equal(webhook.order.transaction_id, "0x1");
});

Deno.test("parseWebhook() keeps an error_code that is a number, as text", () => {
  for (const amount of ["25.5", '"25.5"']) {
    const webhook = parseWebhook(
      `{"type":"order_failed","click_id":"","order":{"id":"a",` +
        `"quote_amount":${amount},"error_code":4016}}`,
    );
    assert(webhook.type === "order_failed");
    assert.equal(webhook.order.error_code, "4016");
  }
  const odd = readWebhook({
    type: "order_failed",
    click_id: "",
    order: { ...ORDER, error_code: { code: 4016 } },
  });
  assert(odd.type === "order_failed");
  assert.equal(odd.order.error_code, undefined);
});

Deno.test("readWebhook() tells no flavour of an order with both a session and partner_data, or neither", () => {
  const webhook = readWebhook({
    type: "order_complete",
    hpp_session_id: SESSION,
    order: { ...ORDER, partner_data: PARTNER_DATA },
  });
  assert(isOrderEvent(webhook));
  assert.equal(webhook.flavour, null);
  assert.equal(webhook.hpp_session_id, SESSION);
  const neither = readWebhook({ type: "order_complete", order: ORDER });
  assert(isOrderEvent(neither));
  assert.equal(neither.flavour, null);
});

Deno.test("readWebhook() reads verify_failed with known, unknown and absent reject_type", () => {
  for (const reject_type of ["FKYC_FAILED_SPAM", "FKYC_FAILED_MOOD"]) {
    assert.deepEqual(
      readWebhook({ type: "verify_failed", click_id: "c", reject_type }),
      { type: "verify_failed", click_id: "c", flavour: null, reject_type },
    );
  }
  assert.deepEqual(readWebhook({ type: "verify_failed" }), {
    type: "verify_failed",
    click_id: "",
    flavour: null,
  });
});

Deno.test("readWebhook() reads the two other spellings as the documented types", () => {
  assert.equal(
    readWebhook({ type: "order_canceled", order: ORDER }).type,
    "order_cancelled",
  );
  assert.equal(readWebhook({ type: "new_card_added" }).type, "card_added");
});

Deno.test("readWebhook() keeps verification states it does not know", () => {
  const user = {
    user_id: "u",
    verification_status: { lkyc: { state: "enlightened" } },
  };
  const webhook = readWebhook({ type: "login", click_id: "", user });
  assert(webhook.type === "login");
  assert.deepEqual(webhook.user, user);
});

Deno.test("readWebhook() leaves out what is not of the documented form", () => {
  assert.deepEqual(
    readWebhook({
      type: "order_complete",
      click_id: 7,
      hpp_session_id: null,
      user: { user_id: "" },
      order: { id: "x", base_amount: 1.5, address: {}, partner_data: [] },
    }),
    {
      type: "order_complete",
      click_id: "",
      flavour: null,
      order: { id: "x" },
    },
  );
  assert.deepEqual(
    readWebhook({
      type: "login",
      user: { user_id: "u", verification_status: 1 },
    }),
    {
      type: "login",
      click_id: "",
      flavour: "nftCheckout",
      user: { user_id: "u" },
    },
  );
});

Deno.test("readWebhook() reads the test event, swapped assets and all", () => {
  const order = { id: "", base: "USD", base_amount: "1", quote: "POL" };
  assert.deepEqual(
    readWebhook({ type: "test", click_id: "test_click_id", order }),
    { type: "test", click_id: "test_click_id", flavour: null, order },
  );
  assert.deepEqual(readWebhook({ type: "test" }), {
    type: "test",
    click_id: "",
    flavour: null,
  });
});

Deno.test("readWebhook() reads every step of otp_status", () => {
  for (const status of ["requested", "success", "failed", "carrier_pigeon"]) {
    const body = {
      type: "otp_status",
      user_id: "u",
      click_id: "",
      phone_country_code: "DE",
      status,
      status_detail: "why",
    };
    assert.deepEqual(readWebhook(body), { ...body, flavour: null });
  }
});

Deno.test("readWebhook() names everything that otp_status lacks", () => {
  assert.deepEqual(unrecognisedReasons({ type: "otp_status" }), [
    "The user_id of otp_status is missing",
    "The status of otp_status is missing",
  ]);
  assert.deepEqual(
    unrecognisedReasons({ type: "otp_status", user_id: "", status: "failed" }),
    ["The user_id of otp_status is empty"],
  );
});

Deno.test("readWebhook() says why a value is no event", () => {
  assert.deepEqual(unrecognisedReasons(null), [
    "The body is null, not an object",
  ]);
  assert.deepEqual(unrecognisedReasons("{}"), [
    "The body is a string, not an object",
  ]);
  assert.deepEqual(unrecognisedReasons({}), ["The body states no type"]);
  assert.deepEqual(unrecognisedReasons({ type: 4 }), [
    "The type is a number, not a string",
  ]);
  assert.deepEqual(readWebhook({ type: "tx_smart_contract_failed" }), {
    type: "unrecognised",
    statedType: "tx_smart_contract_failed",
    reasons: ["Unknown type: tx_smart_contract_failed"],
  });
});

Deno.test("readWebhook() is not fooled by names of Object.prototype", () => {
  for (
    const type of ["constructor", "__proto__", "toString", "hasOwnProperty"]
  ) {
    assert.equal(readWebhook({ type }).type, "unrecognised");
    assert.equal(webhookType(type), null);
  }
  const forged = parseWebhook(
    `{"__proto__":{"type":"order_complete","order":{"id":"x"}}}`,
  );
  assert.equal(forged.type, "unrecognised");
});

Deno.test("parseWebhook() keeps the exact text of an amount sent as a number", () => {
  const webhook = parseWebhook(
    `{"type":"order_complete","order":{"id":"x",` +
      `"base_amount":0.123456789012345678,"quote_amount":12.30}}`,
  );
  assert(isOrderEvent(webhook));
  assert.equal(webhook.order.base_amount, "0.123456789012345678");
  assert.equal(webhook.order.quote_amount, "12.30");
});

Deno.test("parseWebhook() keeps exact numbers however deep an event is nested", () => {
  const depth = 200_000;
  const webhook = parseWebhook(
    `{"type":"order_complete","order":{"id":"x","base_amount":1},"deep":` +
      `${"[".repeat(depth)}${"]".repeat(depth)}}`,
  );
  assert(isOrderEvent(webhook));
  assert.equal(webhook.order.base_amount, "1");
});

/** A name in JSON, its first letter written as an escape. */
const escaped = (name: string) =>
  `\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}`;

/** A name with a backslash in it that V8 takes for `escaped(name)` later. */
const mistaken = (name: string) =>
  JSON.stringify(escaped(name).slice(0, name.length));

for (const [at, value] of ["5", '"5"'].entries()) {
  Deno.test(`parseWebhook() reads the escaped name of ${value} right, whatever was parsed before`, () => {
    const name = "quote_amount";
    const body = (member: string) =>
      `{"type":"order_complete","order":{"fresh${at}":0,"id":"x",${member}}}`;
    JSON.parse(body(`${mistaken(name)}:${value}`));
    const webhook = parseWebhook(body(`"${escaped(name)}":${value}`));
    assert(isOrderEvent(webhook));
    assert.equal(webhook.order.quote_amount, "5");
  });
}

Deno.test("parseWebhook() throws a SyntaxError that does not quote the body", () => {
  for (const body of ["", "Mary Poppins", `{"name":"Mary Poppins`]) {
    assert.throws(() => parseWebhook(body), (error: unknown) => {
      assert(error instanceof SyntaxError);
      assert.doesNotMatch(error.message, /Mary/);
      return true;
    });
  }
});

Deno.test("parseWebhook() reads bytes as it reads text", () => {
  fc.assert(fc.property(fc.json(), (text) => {
    assert.deepEqual(
      parseWebhook(new TextEncoder().encode(text)),
      parseWebhook(text),
    );
  }));
});

const someWebhook = fc.record({
  type: fc.oneof(
    fc.constantFrom(...Object.keys(WEBHOOK_TYPES), "order_canceled"),
    fc.jsonValue(),
  ),
  click_id: fc.jsonValue(),
  hpp_session_id: fc.oneof(fc.uuid(), fc.jsonValue()),
  user: fc.oneof(fc.constant(USER), fc.jsonValue()),
  user_id: fc.jsonValue(),
  status: fc.jsonValue(),
  reject_type: fc.jsonValue(),
  order: fc.oneof(
    fc.record({
      id: fc.oneof(fc.string(), fc.jsonValue()),
      base_amount: fc.jsonValue(),
      transaction_id: fc.jsonValue(),
      partner_data: fc.jsonValue(),
    }, { requiredKeys: [] }),
    fc.jsonValue(),
  ),
}, { requiredKeys: [] });

Deno.test("parseWebhook() never throws on well-formed JSON", () => {
  fc.assert(
    fc.property(fc.oneof(someWebhook, fc.jsonValue()), (value) => {
      const webhook = parseWebhook(JSON.stringify(value));
      if (webhook.type !== "unrecognised") {
        assert(Object.hasOwn(WEBHOOK_TYPES, webhook.type));
        assert.equal(typeof webhook.click_id, "string");
      } else {
        assert(webhook.reasons.length > 0);
      }
      if (isOrderEvent(webhook)) assert.notEqual(webhook.order.id, "");
    }),
    { numRuns: 500 },
  );
});

Deno.test("isOrderEvent() and the other guards agree on every webhook", () => {
  fc.assert(fc.property(someWebhook, (value) => {
    const webhook = readWebhook(value);
    const kinds = [isOrderEvent, isUserEvent, isOtpStatusEvent, isTestEvent]
      .filter((guard) => guard(webhook)).length;
    assert.equal(kinds, isRecognised(webhook) ? 1 : 0);
    assert.equal(
      isVerifyFailedEvent(webhook),
      webhook.type === "verify_failed",
    );
  }));
});

/** Compiles only while every documented type has a case. */
function exhaustive(
  webhook: ReturnType<typeof parseWebhook>,
): WebhookType | null {
  switch (webhook.type) {
    case "registration":
    case "login":
    case "logout":
    case "card_added":
    case "verify_start":
    case "verify_retry":
    case "verify_success":
      return webhook.type satisfies (typeof USER_TYPES)[number];
    case "payment_started":
    case "transfer_started":
    case "order_complete":
    case "order_failed":
    case "order_cancelled":
      return webhook.order.id === "" ? null : webhook.type;
    case "verify_failed":
    case "otp_status":
    case "test":
      return webhook.type;
    case "unrecognised":
      return null;
    default:
      return webhook satisfies never;
  }
}

Deno.test("WebhookEvent is a union that a switch can exhaust", () => {
  const types = Object.keys(WEBHOOK_TYPES);
  assert.equal(types.length, 15);
  for (const type of types) {
    const webhook = readWebhook({
      type,
      order: ORDER,
      user_id: "u",
      status: "failed",
    });
    assert.equal(exhaustive(webhook), type);
    assert(webhook.type !== "unrecognised");
    webhook satisfies WebhookEvent;
  }
});
