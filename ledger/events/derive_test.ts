import assert from "node:assert/strict";
import fc from "fast-check";
import { parseExact } from "../../core/json/exact_json.ts";
import { digestOfBytes, digestOfValue } from "./record.ts";

const utf8 = new TextEncoder();
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
