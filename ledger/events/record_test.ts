import assert from "node:assert/strict";
import fc from "fast-check";
import { parseExact } from "../../core/json/json.ts";
import { derive, digestOfBytes, digestOfValue, factId } from "./record.ts";
import {
  deliveryUnanswered,
  orderAbsent,
  orderContradicted,
  orderExpected,
  orderSnapshot,
  sessionCreated,
  userSnapshot,
  webhookEvent,
} from "../testing/mint.ts";

const salt = new Uint8Array(16).fill(7);
const recordedAt = "2026-03-01T10:00:00.000Z";
const readAt = "2026-03-01T09:59:59.000Z";
const utf8 = new TextEncoder();

function webhook(body: string | Uint8Array) {
  return webhookEvent({
    id: "01JWEBHOOK",
    receivedAt: recordedAt,
    body: typeof body === "string" ? utf8.encode(body) : body,
  }, salt);
}

Deno.test("webhookEvent() derives whom an order event concerns", () => {
  const body = JSON.stringify({
    type: "order_complete",
    click_id: "basket-1",
    order: { id: "01JORDER" },
    user: { user_id: "01JUSER" },
  });
  const event = webhook(body);
  assert.deepEqual(
    [event.type, event.orderId, event.userId, event.clickId],
    ["order_complete", "01JORDER", "01JUSER", "basket-1"],
  );
  assert.deepEqual(event.body, utf8.encode(body));
  assert.equal(event.eventId, "01JWEBHOOK");
  assert.equal(event.recordedAt, recordedAt);
  assert.equal(event.occurredAt, null);
  assert.equal(event.readAt, null);
});

Deno.test("webhookEvent() finds the user of an otp_status event", () => {
  const event = webhook('{"type":"otp_status","user_id":"01JU","click_id":""}');
  assert.deepEqual([event.userId, event.clickId], ["01JU", null]);
});

Deno.test("webhookEvent() links the test event to nothing", () => {
  const event = webhook(
    '{"type":"test","click_id":"test_click_id","order":{"id":""}}',
  );
  assert.deepEqual(
    [event.type, event.orderId, event.userId, event.clickId],
    ["test", null, null, null],
  );
});

Deno.test("webhookEvent() keeps an unknown type and its links", () => {
  const event = webhook('{"type":"refund_begun","order":{"id":"01JORDER"}}');
  assert.deepEqual([event.type, event.orderId], ["refund_begun", "01JORDER"]);
});

Deno.test("webhookEvent() quarantines what is no JSON object", () => {
  for (const body of ["", "{", "null", "7", '"text"', "[{}]", "\ud800"]) {
    const event = webhook(body);
    assert.deepEqual(
      [event.kind, event.type, event.orderId, event.userId, event.clickId],
      ["webhook", null, null, null, null],
      body,
    );
  }
  assert.equal(webhook(new Uint8Array([0xff, 0xfe])).type, null);
});

Deno.test("webhookEvent() makes text of columns well formed and free of NUL", () => {
  const event = webhook(
    '{"type":"a\\ud800b","order":{"id":"\\u0000x\\u0000"},"click_id":"\\u0000"}',
  );
  assert.equal(event.type, "a\ufffdb");
  assert.equal(event.orderId, "x");
  assert.equal(event.clickId, null);
});

Deno.test("webhookEvent() takes fields of any type without failing", () => {
  const any = fc.jsonValue();
  fc.assert(
    fc.property(any, any, any, any, (type, order, user, click) => {
      const root = { type, order, user, click_id: click, user_id: order };
      const event = webhook(JSON.stringify(root));
      for (const text of [event.type, event.orderId, event.userId]) {
        if (text === null) continue;
        assert.ok(text.isWellFormed() && text !== "" && !text.includes("\0"));
      }
    }),
  );
  fc.assert(fc.property(fc.uint8Array(), (body) => {
    assert.deepEqual(webhook(body).body, body);
  }));
});

Deno.test("orderSnapshot() takes its columns from the reading", () => {
  const source = '{"order_id":"01JORDER","click_id":"c","user_id":"u",' +
    '"created_at":"2026-01-01 00:00:00","changed_at":"2026-01-02 03:04:05",' +
    '"crypto_amount":0.000000000000000001}';
  const event = orderSnapshot({ source, readAt, recordedAt, salt });
  assert.deepEqual({ ...event, body: null, salt: null }, {
    eventId: "01KJMDEA8Rdbefc704a0d83309d2e717e7ee5737c1",
    kind: "order_snapshot",
    type: null,
    orderId: "01JORDER",
    userId: "u",
    clickId: "c",
    occurredAt: "2026-01-02T03:04:05.000Z",
    recordedAt,
    readAt,
    body: null,
    digest: "441ff5a3b10756e13e0a3a5ac8fca4cf77c2f46a5495151d5dc866fc1c4987c5",
    salt: null,
  });
  assert.equal(new TextDecoder().decode(event.body), source);
});

Deno.test("factId() of readings sorts by the time of reading", () => {
  fc.assert(fc.property(
    fc.nat({ max: 2 ** 31 }),
    fc.nat({ max: 2 ** 31 }),
    fc.string(),
    (one, other, digest) => {
      const [early = 0, late = 0] = [one, other].sort((a, b) => a - b);
      const id = (ms: number): string =>
        factId("order_snapshot", "o", new Date(ms).toISOString(), digest);
      if (early < late) assert.ok(id(early) < id(late));
      assert.equal(id(early), id(early));
    },
  ));
});

Deno.test("factId() of a time that no ULID can say is the hash alone", () => {
  for (
    const odd of [null, "", "soon", "-000001-01-01T00:00:00.000Z"]
  ) {
    assert.match(factId("order_absent", "o", odd, "00"), /^[0-9a-f]{64}$/);
  }
});

Deno.test("orderSnapshot() falls back to the creation time", () => {
  const event = orderSnapshot({
    source: '{"order_id":"o","created_at":"2026-01-01 00:00:00"}',
    readAt,
    recordedAt,
    salt,
  });
  assert.equal(event.occurredAt, "2026-01-01T00:00:00.000Z");
});

Deno.test("orderSnapshot() refuses a reading that names no order", () => {
  for (const source of ["{}", '{"order_id":""}', "[]", '{"order_id":null}']) {
    assert.throws(
      () => orderSnapshot({ source, readAt, recordedAt, salt }),
      TypeError,
    );
  }
  assert.throws(
    () => orderSnapshot({ source: "{", readAt, recordedAt, salt }),
    SyntaxError,
  );
});

Deno.test("userSnapshot() concerns the user alone", () => {
  const event = userSnapshot({
    source: '{"user_id":"u","created_at":"2026-01-01T00:00:00Z"}',
    readAt,
    recordedAt,
    salt,
  });
  assert.deepEqual(
    [event.orderId, event.userId, event.clickId, event.occurredAt],
    [null, "u", null, null],
  );
});

Deno.test("factId() gives a fact the same id when it is read again at the same time, whatever the salt", () => {
  const first = orderAbsent({ orderId: "o", readAt, recordedAt, salt });
  const again = orderAbsent({
    orderId: "o",
    readAt,
    recordedAt: "2026-03-01T11:00:00.000Z",
    salt: new Uint8Array(16),
  });
  const later = orderAbsent({
    orderId: "o",
    readAt: "2026-03-01T12:00:00.000Z",
    recordedAt,
    salt,
  });
  assert.equal(first.eventId, again.eventId);
  assert.notEqual(first.eventId, later.eventId);
});

Deno.test("factId() gives the ids that are stored already", () => {
  const contradiction = { orderId: "o", status: "success", upTo: recordedAt };
  assert.deepEqual(
    [
      orderAbsent({ orderId: "o", readAt, recordedAt, salt }),
      orderContradicted({ ...contradiction, readAt, recordedAt, salt }),
      sessionCreated({
        session: { session_id: "s", flow_type: "simple", click_id: "c" },
        recordedAt,
        salt,
      }),
      orderExpected({
        expected: { expectation_id: "e", click_id: "c" },
        recordedAt,
        salt,
      }),
      deliveryUnanswered({
        unanswered: { id: "d", noticedAt: readAt, answer: "late" },
        salt,
      }),
    ].map((event) => [event.kind, event.eventId, event.recordedAt]),
    [
      [
        "order_absent",
        "01KJMDEA8Rae906adb8a86f7a0265310f9bee43f6f",
        recordedAt,
      ],
      [
        "order_contradicted",
        "01KJMDEA8Rbbc527e63fb007991e015cc9331d7845",
        recordedAt,
      ],
      [
        "session_created",
        "4652ccf6980788a8ab23c94cdc46f5ae7b5a34504319a205508c5457000db275",
        recordedAt,
      ],
      [
        "order_expected",
        "5bb4ec26951f921b5dc14a77c7b2ee7cfee395d84505df9f04fc20b116150a3c",
        recordedAt,
      ],
      [
        "delivery_unanswered",
        "a342371754e8874b596e2a54ba988cec8a6e3a0794e854cd9fbbc6f848f09b03",
        readAt,
      ],
    ],
  );
});

Deno.test("sessionCreated() links the user and the click id", () => {
  const event = sessionCreated({
    session: {
      session_id: "s",
      flow_type: "simple",
      user_id: "u",
      click_id: "c",
    },
    recordedAt,
    salt,
  });
  assert.deepEqual([event.userId, event.clickId], ["u", "c"]);
});

Deno.test("orderExpected() links the user and the click id", () => {
  const event = orderExpected({
    expected: { expectation_id: "e", user_id: "u", click_id: "c" },
    recordedAt,
    salt,
  });
  assert.deepEqual([event.userId, event.clickId], ["u", "c"]);
});

Deno.test("derive() gives back what was minted, from the bytes alone", () => {
  const id = fc.string({ minLength: 1, unit: "grapheme" })
    .filter((text) => !text.includes("\0"));
  fc.assert(fc.property(id, id, (orderId, clickId) => {
    const source = JSON.stringify({ order_id: orderId, click_id: clickId });
    const minted = [
      webhook(JSON.stringify({ order: { id: orderId }, click_id: clickId })),
      orderSnapshot({ source, readAt, recordedAt, salt }),
      orderAbsent({ orderId, readAt, recordedAt, salt }),
    ];
    for (const event of minted) {
      const { columns } = derive(event.kind, event.body);
      assert.equal(columns.orderId, event.orderId);
      assert.equal(columns.clickId, event.clickId);
      assert.equal(columns.digest, event.digest);
    }
  }));
});

const digestOf = (source: string) => digestOfValue(parseExact(source));

Deno.test("digestOfBytes() gives the pinned digests", () => {
  assert.equal(
    digestOfBytes(new Uint8Array()),
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
  assert.equal(
    digestOfBytes(utf8.encode('{"type":"login"}')),
    "af72f1ccdeb02f5d9931f78c2770c6451092847556197aabcfac4ea7b08921d1",
  );
});

Deno.test("digestOfValue() gives the pinned digests", () => {
  assert.equal(
    digestOf('{"order_id":"01J","crypto_amount":0.100000000000000001}'),
    "27472699efbbc3d36b3b6c644b38680239a44aa79d4c2c63e923f5a089481d68",
  );
  assert.equal(
    digestOf('[1,"1",1.0,1e2,null,true]'),
    "a9a59664871c5b60cc8df3d4e0ed9bd1727352c240e36a78e886c5dba1b0b8a6",
  );
  assert.equal(
    digestOf('{"\\ud800":"\\udfff","é":"\\u0000"}'),
    "56971b68afd5b4d8de0a8ebe4fcfd3808e052a5636c9b34a4de067e0ccd13ac6",
  );
});

Deno.test("digestOfValue() does not count order, white space and escapes", () => {
  assert.equal(
    digestOf('{"b":[1,2],"a":"\\u00e9"}'),
    digestOf('{ "a" : "é", "b" : [1, 2] }'),
  );
});

Deno.test("digestOfValue() tells amounts apart that differ in the 18th digit", () => {
  assert.notEqual(
    digestOf('{"crypto_amount":0.123456789012345678}'),
    digestOf('{"crypto_amount":0.123456789012345679}'),
  );
});

Deno.test("digestOfValue() takes any JSON, lone surrogates too", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const source = JSON.stringify(value);
    assert.match(digestOf(source), /^[0-9a-f]{64}$/);
    assert.equal(digestOf(source), digestOf(JSON.stringify(value, null, 2)));
  }));
  assert.equal(digestOf('"\\ud800"'), digestOf('"\\udc00"'));
});

Deno.test("digestOfValue() keeps fields of odd names apart", () => {
  assert.notEqual(digestOf('{"__proto__":1}'), digestOf("{}"));
  assert.notEqual(digestOf('{"toJSON":1}'), digestOf('{"toJSON":2}'));
});
