import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { RecordedEvent } from "../events/event.ts";
import {
  bodyCommitment,
  commitmentOf,
  ERASED_ID,
  identityCommitment,
} from "./commitment.ts";

const whole = {
  body: new TextEncoder().encode('{"type":"login"}'),
  digest: "af72f1ccdeb02f5d9931f78c2770c6451092847556197aabcfac4ea7b08921d1",
  salt: Uint8Array.from({ length: 16 }, (_, at) => at),
};

const event: RecordedEvent = {
  position: 1,
  eventId: "01JEVENT",
  kind: "webhook",
  type: "login",
  orderId: null,
  userId: "01JUSER",
  clickId: "é",
  occurredAt: null,
  recordedAt: "2026-01-01T00:00:00.000Z",
  readAt: null,
  ...whole,
};

const noBody = { ...event, body: null, digest: null, salt: null };
const noIds = {
  ...noBody,
  eventId: `${ERASED_ID}1`,
  orderId: null,
  userId: null,
  clickId: null,
};

Deno.test("commitmentOf() and its inner commitments are pinned", () => {
  const body = bodyCommitment(whole);
  assert.deepEqual(
    [body, identityCommitment(event, body), commitmentOf(event)]
      .map((one) => one.toHex()),
    [
      "b8ee4ddef5f7261dc26a004283164e985f62673a5d2f29fdb88f6840d9de9a58",
      "c5a24fcf737d0e012f2938c4e3e86e594e32bfae121a8a49f897db29a3b05f16",
      "00f68eb94293baad790bb39041a3f7e7d35787215f386e128caef182365a8648",
    ],
  );
});

Deno.test("commitmentOf() covers every column but the position", () => {
  const seen = new Set([commitmentOf(event).toHex()]);
  const columns = Object.keys(event).filter((name) => name !== "position");
  for (const name of columns) {
    const value = name === "body" || name === "salt"
      ? new Uint8Array(16).fill(9)
      : "other";
    seen.add(commitmentOf({ ...event, [name]: value }).toHex());
  }
  assert.equal(seen.size, columns.length + 1);
  assert.equal(
    commitmentOf({ ...event, position: 2 } as RecordedEvent).toHex(),
    commitmentOf(event).toHex(),
  );
});

Deno.test("commitmentOf() is the same after the body, and after the ids, were erased", () => {
  const body = bodyCommitment(whole);
  const identity = identityCommitment(event, body);
  const before = commitmentOf(event).toHex();
  const afterBody = commitmentOf(noBody, { part: "body", commitment: body });
  assert.equal(afterBody.toHex(), before);
  const afterIds = commitmentOf(noIds, {
    part: "identity",
    commitment: identity,
  });
  assert.equal(afterIds.toHex(), before);
});

Deno.test("commitmentOf() holds an event of which a part was erased to all that is left", () => {
  const body = bodyCommitment(whole);
  const erasedBody = { part: "body", commitment: body } as const;
  const erasedIds = {
    part: "identity",
    commitment: identityCommitment(event, body),
  } as const;
  const before = commitmentOf(event).toHex();
  const rest = ["kind", "type", "occurredAt", "recordedAt", "readAt"];
  for (const name of rest) {
    const changed = commitmentOf({ ...noIds, [name]: "other" }, erasedIds);
    assert.notEqual(changed.toHex(), before, name);
  }
  for (const name of [...rest, "eventId", "orderId", "userId", "clickId"]) {
    const changed = commitmentOf({ ...noBody, [name]: "other" }, erasedBody);
    assert.notEqual(changed.toHex(), before, name);
  }
  assert.notEqual(commitmentOf(noBody).toHex(), before);
});

Deno.test("commitmentOf() tells an empty text from none, and where a text ends", () => {
  const hash = (orderId: string | null, userId: string | null) =>
    commitmentOf({ ...event, orderId, userId }).toHex();
  const text = fc.option(fc.string({ unit: "grapheme" }));
  fc.assert(fc.property(text, text, text, text, (a, b, c, d) => {
    assert.equal(hash(a, b) === hash(c, d), a === c && b === d);
  }));
});

Deno.test("bodyCommitment() covers salt, digest and body, and where each ends", () => {
  const bytes = fc.uint8Array({ maxLength: 4 });
  fc.assert(fc.property(bytes, bytes, bytes, bytes, (a, b, c, d) => {
    const one = bodyCommitment({ salt: a, digest: "", body: b }).toHex();
    const other = bodyCommitment({ salt: c, digest: "", body: d }).toHex();
    const equal = a.toHex() === c.toHex() && b.toHex() === d.toHex();
    assert.equal(one === other, equal);
  }));
  assert.notEqual(
    bodyCommitment(whole).toHex(),
    bodyCommitment({ ...whole, digest: "0".repeat(64) }).toHex(),
  );
});

Deno.test("bodyCommitment() hashes each part behind its kind and its length, whatever its size", () => {
  const salt = new Uint8Array(16).fill(5);
  const part = (kind: number, bytes: Uint8Array) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([Buffer.of(kind), length, bytes]);
  };
  const text = (value: string) => part(1, Buffer.from(value));
  for (const size of [0, 255, 256, 70_000, 1 << 24]) {
    const body = new Uint8Array(size).fill(9);
    const digest = `${size}é`.repeat(size < 300 ? 100 : 1);
    const parts = [
      text("rampkit/body/1"),
      part(2, salt),
      text(digest),
      part(2, body),
    ];
    assert.equal(
      bodyCommitment({ body, digest, salt }).toHex(),
      createHash("sha256").update(Buffer.concat(parts)).digest("hex"),
    );
  }
});
