import fc from "fast-check";
import assert from "node:assert/strict";
import {
  LARGE_BODY_BYTES,
  largeBodyRate,
  noRoomInSpool,
  SMALL_BODY_BYTES,
} from "./body_room.ts";

const MIB = 1 << 20;
const empty = { maxBytes: 100 * MIB, bytes: 0, largeBytes: 0 };

Deno.test("noRoomInSpool() gives large bodies a tenth, and small ones alone the last quarter", () => {
  const large = LARGE_BODY_BYTES + 1;
  assert.equal(noRoomInSpool(MIB, empty), null);
  const shared = { ...empty, bytes: 10 * MIB, largeBytes: 10 * MIB };
  assert.equal(noRoomInSpool(large, shared), "large_share");
  assert.equal(noRoomInSpool(LARGE_BODY_BYTES, shared), null);
  const quarter = { ...empty, bytes: 75 * MIB };
  assert.equal(noRoomInSpool(large, quarter), "nearly_full");
  assert.equal(noRoomInSpool(SMALL_BODY_BYTES + 1, quarter), "nearly_full");
  assert.equal(noRoomInSpool(SMALL_BODY_BYTES, quarter), null);
});

Deno.test("noRoomInSpool() has room for a small body whatever was sent of larger ones", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 0, max: MIB })),
    fc.integer({ min: MIB, max: 40 * MIB }),
    (sizes, maxBytes) => {
      let use = { maxBytes, bytes: 0, largeBytes: 0 };
      for (const size of sizes) {
        if (noRoomInSpool(size, use) !== null) continue;
        if (size <= SMALL_BODY_BYTES) continue;
        const isLarge = size > LARGE_BODY_BYTES;
        use = {
          maxBytes,
          bytes: use.bytes + size,
          largeBytes: use.largeBytes + (isLarge ? size : 0),
        };
      }
      assert.ok(use.bytes <= maxBytes * 3 / 4);
      assert.ok(use.largeBytes <= maxBytes / 10);
      assert.equal(noRoomInSpool(SMALL_BODY_BYTES, use), null);
    },
  ));
});

Deno.test("largeBodyRate() takes six large bodies a minute, and any number of others", () => {
  let nowMs = 0;
  const room = largeBodyRate(() => nowMs);
  const take = (bytes: number): string | null => {
    const why = room.noRoomFor(bytes);
    if (why === null) room.took?.(bytes);
    return why;
  };
  for (let n = 0; n < 6; n++) {
    assert.equal(take(MIB), null);
    nowMs += 1_000;
  }
  assert.equal(take(MIB), "large_share");
  for (let n = 0; n < 100; n++) assert.equal(take(LARGE_BODY_BYTES), null);
  nowMs = 60_000;
  assert.equal(take(MIB), null);
  assert.equal(take(MIB), "large_share");
});
