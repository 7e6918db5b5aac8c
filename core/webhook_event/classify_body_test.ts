import assert from "node:assert/strict";
import { bodyValue, classify, longIdentifiers } from "./classify_body.ts";
import { readWebhook } from "./parse_webhook.ts";

Deno.test("classify() reads an escaped type right, whatever was parsed before", () => {
  // V8 would reuse this key for the escaped one below.
  JSON.parse(`{"unseen":1,"\\\\u00":"login"}`);
  const body = `{"unseen":1,"\\u0074ype":"login"}`;
  assert.deepEqual(classify(bodyValue(new TextEncoder().encode(body))), {
    type: "login",
    why: null,
  });
});

Deno.test("classify() tells objects that are not documented from what is none", () => {
  const typeOf = (body: string): string =>
    classify(bodyValue(new TextEncoder().encode(body))).type;
  assert.equal(typeOf(`{"type":"coffee_brewed"}`), "other");
  for (const body of ["", "not JSON", "[]", "null", `"text"`, "7", `{"a"`]) {
    assert.equal(typeOf(body), "quarantined", body);
  }
});

const long = "x".repeat(257);
const longest = "x".repeat(256);
const order = { id: "01ORDER", external_order_id: "abc123" };
const user = { user_id: "01USER" };
const complete = {
  type: "order_complete",
  click_id: "basket-7",
  hpp_session_id: "5f0c6a0e",
  order,
  user,
};

Deno.test("longIdentifiers() names each field whose text is too long for an id", () => {
  assert.deepEqual(longIdentifiers(complete), []);
  assert.deepEqual(longIdentifiers({ ...complete, click_id: longest }), []);
  const all = {
    type: long,
    click_id: long,
    hpp_session_id: long,
    user_id: long,
    user: { user_id: long },
    order: { id: long, external_order_id: long },
  };
  assert.deepEqual(longIdentifiers(all), [
    "type",
    "click_id",
    "hpp_session_id",
    "user_id",
    "user.user_id",
    "order.id",
    "order.external_order_id",
  ]);
  for (const value of [null, undefined, [], "x", { order: null }]) {
    assert.deepEqual(longIdentifiers(value), []);
  }
});

Deno.test("readWebhook() reads an identifier that is too long as absent", () => {
  assert.deepEqual(
    readWebhook({
      ...complete,
      click_id: long,
      hpp_session_id: long,
      order: { id: "01ORDER", external_order_id: long },
      user: { user_id: long },
    }),
    {
      type: "order_complete",
      click_id: "",
      flavour: null,
      order: { id: "01ORDER" },
    },
  );
  const login = readWebhook({ type: "login", click_id: long, user });
  assert.deepEqual(login, {
    type: "login",
    click_id: "",
    flavour: "nftCheckout",
    user,
  });
});

Deno.test("readWebhook() recognises no order or step of a code whose id is too long", () => {
  const reasons = (value: unknown) => {
    const webhook = readWebhook(value);
    return webhook.type === "unrecognised" ? webhook.reasons : [];
  };
  assert.deepEqual(reasons({ ...complete, order: { id: long } }), [
    "The order.id of order_complete is longer than 256 bytes",
  ]);
  assert.deepEqual(
    reasons({ type: "otp_status", user_id: long, status: "success" }),
    ["The user_id of otp_status is longer than 256 bytes"],
  );
});

Deno.test("classify() says which identifiers of a documented event are too long", () => {
  const classOf = (body: unknown) =>
    classify(bodyValue(new TextEncoder().encode(JSON.stringify(body))));
  assert.deepEqual(classOf({ ...complete, click_id: long }), {
    type: "order_complete",
    why: "Longer than 256 bytes, and read as absent: click_id",
  });
  assert.equal(classOf({ ...complete, click_id: longest }).why, null);
});
