import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { readForwardSecrets, webhookSigner } from "./transition_message.ts";

const OLD = `whsec_${btoa("an old secret of enough bytes")}`;
const NEW = `whsec_${btoa("another secret of enough bytes")}`;
const message = {
  id: "order:01J9:confirmed.success",
  type: "order.confirmed.success",
  timestamp: "2026-01-02T03:04:05.000Z",
  data: { id: "01J9", text: "żółć" },
};

Deno.test("webhookSigner() signs so that the specification's library verifies it with each secret", () => {
  const { headers, body } = webhookSigner([NEW, OLD])(message, Date.now());
  for (const secret of [OLD, NEW]) {
    assert.deepEqual(new Webhook(secret).verify(body, headers), {
      type: message.type,
      timestamp: message.timestamp,
      data: message.data,
    });
  }
  assert.equal(headers["webhook-id"], message.id);
  const third = new Webhook(`whsec_${btoa("a third secret, never used here")}`);
  assert.throws(() => third.verify(body, headers), /No matching signature/);
  assert.throws(() => new Webhook(OLD).verify(body + " ", headers));
});

Deno.test("webhookSigner() gives the same id to each attempt, and only the time of sending differs", () => {
  const sign = webhookSigner([OLD]);
  const first = sign(message, 1_000_500);
  const second = sign(message, 2_000_500);
  assert.equal(first.headers["webhook-timestamp"], "1000");
  assert.equal(second.headers["webhook-timestamp"], "2000");
  assert.equal(first.headers["webhook-id"], second.headers["webhook-id"]);
  assert.equal(first.body, second.body);
});

Deno.test("webhookSigner() makes a header of any id, however long or odd", () => {
  const sign = webhookSigner([OLD]);
  const idOf = (id: string) =>
    sign({ ...message, id }, Date.now()).headers["webhook-id"] ?? "";
  assert.equal(
    idOf("order:a b\r\nx:confirmed.success"),
    "order:a%20b%0D%0Ax:confirmed.success",
  );
  assert.match(idOf("x".repeat(201)), /^sha256:[0-9a-f]{64}$/);
  assert.match(idOf("\ud800"), /^%EF%BF%BD$/);
  const odd = sign({ ...message, id: "order:ż,.:a\u2028" }, Date.now());
  new Webhook(OLD).verify(
    odd.body,
    Object.fromEntries(
      new Headers(odd.headers),
    ),
  );
});

Deno.test("webhookSigner() lets no id be read as another id and a time", () => {
  const sign = webhookSigner([OLD]);
  const forged = {
    ...message,
    id: 'order:x.1700000000.{"a":1}:claimed.failed',
  };
  assert.equal(
    sign(forged, Date.now()).headers["webhook-id"],
    "order:x%2E1700000000.%7B%22a%22:1%7D:claimed.failed",
  );
});

Deno.test("readForwardSecrets() takes several, and refuses what is no secret without repeating it", () => {
  assert.deepEqual(readForwardSecrets(` ${NEW}, ${OLD},`, "X"), [NEW, OLD]);
  for (
    const wrong of ["hunter2hunter2", "whsec_!!", `whsec_${btoa("short")}`]
  ) {
    assert.throws(() => readForwardSecrets(`${OLD},${wrong}`, "X"), (error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /^Wrong X: secret 2 of 2 /);
      assert.ok(!error.message.includes(wrong));
      return true;
    });
  }
});
