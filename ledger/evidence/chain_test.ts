import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { RecordedEvent } from "../event/event.ts";
import { commitmentOf, genesisHash, linkHash } from "./chain.ts";

const origin = { environment: "sandbox", ledgerId: "01".repeat(16) };

const event: RecordedEvent = {
  position: 1,
  eventId: "01JEVENT",
  kind: "webhook",
  type: "login",
  orderId: null,
  userId: "01JUSER",
  clickId: null,
  occurredAt: null,
  recordedAt: "2026-01-01T00:00:00.000Z",
  readAt: null,
  body: new TextEncoder().encode('{"type":"login"}'),
  digest: "af72f1ccdeb02f5d9931f78c2770c6451092847556197aabcfac4ea7b08921d1",
  salt: Uint8Array.from({ length: 16 }, (_, at) => at),
};

function commit(one: RecordedEvent): Uint8Array {
  const { body, digest, salt } = one;
  assert.ok(body !== null && digest !== null && salt !== null);
  return commitmentOf({ body, digest, salt });
}

Deno.test("genesisHash() is pinned", () => {
  assert.equal(
    genesisHash(origin).toHex(),
    "3f474a16232f2d8d1689d15759199057d30ab20b29392e8c84f7f142179e519b",
  );
});

Deno.test("commitmentOf() is pinned", () => {
  assert.equal(
    commit(event).toHex(),
    "7fbcd62e68c257d2ad2db038a5d6f8771dc27d77fd453e601ee6575efc6cd719",
  );
});

Deno.test("linkHash() is pinned", () => {
  const first = linkHash(genesisHash(origin), event, commit(event));
  assert.equal(
    first.toHex(),
    "589f10d7afcc710c9ad247eaedbb060c37ccc6d1b47dc09bae6711e88a92fcf7",
  );
  const next = { ...event, position: 4, clickId: "é" };
  assert.equal(
    linkHash(first, next, commit(next)).toHex(),
    "6325fbc8de96b3f16a6b2ce9e3bf3dd098fa2133e32dcf5ac3d5d3d8adca33f6",
  );
});

Deno.test("linkHash() covers every column", () => {
  const plain = linkHash(genesisHash(origin), event, commit(event)).toHex();
  const seen = new Set([plain]);
  const columns = Object.keys(event).filter((name) =>
    !["body", "digest", "salt", "position"].includes(name)
  );
  for (const name of columns) {
    const other = { ...event, [name]: "other" };
    seen.add(linkHash(genesisHash(origin), other, commit(event)).toHex());
  }
  const moved = { ...event, position: 2 };
  seen.add(linkHash(genesisHash(origin), moved, commit(event)).toHex());
  seen.add(linkHash(new Uint8Array(32), event, commit(event)).toHex());
  seen.add(linkHash(genesisHash(origin), event, new Uint8Array(32)).toHex());
  assert.equal(seen.size, columns.length + 4);
});

Deno.test("linkHash() tells an empty text from none, and where a text ends", () => {
  const hash = (type: string | null, orderId: string | null) =>
    linkHash(new Uint8Array(32), { ...event, type, orderId }, commit(event))
      .toHex();
  const text = fc.option(fc.string({ unit: "grapheme" }));
  fc.assert(fc.property(text, text, text, text, (a, b, c, d) => {
    assert.equal(hash(a, b) === hash(c, d), a === c && b === d);
  }));
});

Deno.test("commitmentOf() covers salt, digest and body, and where each ends", () => {
  const bytes = fc.uint8Array({ maxLength: 4 });
  fc.assert(fc.property(bytes, bytes, bytes, bytes, (a, b, c, d) => {
    const one = commitmentOf({ salt: a, digest: "", body: b }).toHex();
    const other = commitmentOf({ salt: c, digest: "", body: d }).toHex();
    const equal = a.toHex() === c.toHex() && b.toHex() === d.toHex();
    assert.equal(one === other, equal);
  }));
  assert.notEqual(
    commit(event).toHex(),
    commit({ ...event, digest: "0".repeat(64) }).toHex(),
  );
});

Deno.test("genesisHash() differs between ledgers and environments", () => {
  const hashes = [
    origin,
    { ...origin, environment: "production" },
    { ...origin, ledgerId: "02".repeat(16) },
  ].map((one) => genesisHash(one).toHex());
  assert.equal(new Set(hashes).size, 3);
});

Deno.test("commitmentOf() hashes each part behind its kind and its length, whatever its size", () => {
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
      text("rampkit/commitment/1"),
      part(2, salt),
      text(digest),
      part(2, body),
    ];
    assert.equal(
      commitmentOf({ body, digest, salt }).toHex(),
      createHash("sha256").update(Buffer.concat(parts)).digest("hex"),
    );
  }
});
