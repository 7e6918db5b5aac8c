import fc from "fast-check";
import assert from "node:assert/strict";
import { webhookEndpoint } from "./endpoint.ts";
import { PathSecret } from "./gate.ts";

const OLD = "old-0123456789abcdef";
const NEW = "new-0123456789abcdef";

Deno.test("matches() accepts any valid secret and nothing else", () => {
  const secret = new PathSecret("/webhooks/", [OLD, NEW]);
  const base = "https://shop.example/webhooks/";
  for (
    const valid of [
      ...[OLD, NEW, `${NEW}?x=1`, "old%2D0123456789abcdef"],
      ...[`${OLD}/`, `${OLD}/?x=1`],
    ]
  ) {
    assert(secret.matches(base + valid), valid);
  }
  for (
    const wrong of [
      "",
      "x",
      OLD.slice(1),
      OLD.slice(0, -1),
      `${OLD}x`,
      `${OLD}//`,
      `${OLD}%2F`,
      `${OLD}%00`,
      `${OLD}%`,
      `x/${OLD}`,
      `?${OLD}`,
      OLD.toUpperCase(),
      OLD + NEW,
      "x".repeat(100_000),
    ]
  ) {
    assert(!secret.matches(base + wrong), wrong.slice(0, 80));
  }
  assert(!secret.matches(`https://shop.example/${OLD}`));
  assert(!secret.matches(`https://shop.example/x/webhooks/${OLD}`));
  assert(!secret.matches(`https://shop.example/?/webhooks/${OLD}`));
  assert(!secret.matches("https://shop.example"));
});

Deno.test("matches() takes the last segment of any path where no prefix is stated", () => {
  const secret = new PathSecret(null, [OLD, NEW]);
  const base = "https://shop.example";
  for (const path of ["", "/webhooks", "/api/hooks/v1", "/", `/${NEW}x`]) {
    assert(secret.matches(`${base}${path}/${OLD}`), path);
    assert(secret.matches(`${base}${path}/${NEW}?from=/x/y`), path);
    assert(secret.matches(`${base}${path}/${OLD}/`), path);
    for (
      const wrong of ["", "x", `${OLD}x`, `${OLD}//`, `${OLD}/x`, `?/${OLD}`]
    ) {
      assert(!secret.matches(`${base}${path}/${wrong}`), `${path}/${wrong}`);
    }
  }
  assert(!secret.matches(base));
  assert(new PathSecret(null, ["a/b"]).matches(`${base}/x/a%2Fb`));
});

Deno.test("a right secret that stands elsewhere is told as that, and no other is", async () => {
  let told: string | null = null;
  const endpoint = webhookEndpoint({
    append: () => Promise.resolve(),
    path: "/webhooks/",
    secrets: [OLD, NEW],
    onAnswer: ({ refusal }) => told = refusal,
  });
  const why = async (path: string) => {
    const url = `https://shop.example${path}`;
    await endpoint(new Request(url, { method: "POST", body: "{}" }));
    return told;
  };
  for (
    const path of [
      `/${OLD}`,
      `/hooks/${NEW}`,
      `/webhooks/x/${OLD}`,
      `/webhooks/${OLD}//`,
      `/webhooks/${OLD}/x`,
      `/webhooks?secret=${OLD}`,
      `/webhooks/?${NEW}`,
    ]
  ) assert.equal(await why(path), "misplaced_secret", path);
  for (const path of ["/", `/hooks/${OLD}x`, "/webhooks/x", "/webhooks?a=b"]) {
    assert.equal(await why(path), "wrong_secret", path);
  }
  const many = "/x".repeat(100_000);
  assert.equal(await why(`${many}/${OLD}`), "wrong_secret");
  assert.equal(await why(`/webhooks/${OLD}/`), null);
  await endpoint.drain();
});

Deno.test("matches() is equality of strings", () => {
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 12 })
    .filter((value) => value.isWellFormed());
  fc.assert(fc.property(text, text, (valid, candidate) => {
    const secret = new PathSecret("/", [valid]);
    const url = (value: string): string =>
      `http://h/${encodeURIComponent(value)}`;
    assert(secret.matches(url(valid)));
    assert.equal(secret.matches(url(candidate)), candidate === valid);
  }));
});

Deno.test("PathSecret counts the bytes of a secret, not its characters", () => {
  const longest = "é".repeat(128);
  const secret = new PathSecret("/", [longest]);
  assert(secret.matches(`http://h/${encodeURIComponent(longest)}`));
  assert(!secret.matches(`http://h/${encodeURIComponent(`${longest}é`)}`));
  assert.throws(() => new PathSecret("/", [`${longest}é`]), RangeError);
});

Deno.test("redact() leaves no secret in a text", () => {
  const secret = new PathSecret("/", ["a/b c", OLD]);
  const redacted = secret.redact(`at /a%2Fb%20c, a/b c and ${OLD}${OLD}`);
  assert.equal(redacted, "at /{secret}, {secret} and {secret}{secret}");
});

Deno.test("PathSecret refuses an invalid secret without naming it", () => {
  assert.throws(() => new PathSecret("/", []), RangeError);
  assert.throws(() => new PathSecret("/", [""]), RangeError);
  assert.throws(
    () => new PathSecret("/", ["ok", "q".repeat(257)]),
    (error: unknown) =>
      error instanceof RangeError && !error.message.includes("qq") &&
      error.message.includes("secrets[1]"),
  );
  assert.throws(() => new PathSecret("webhooks/", [OLD]), TypeError);
  assert.throws(() => new PathSecret("/webhooks", [OLD]), TypeError);
  assert(new PathSecret("/", ["q".repeat(256)]));
});
