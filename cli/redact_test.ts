import assert from "node:assert/strict";
import { redact } from "./redact.ts";

Deno.test("redact() blots out every configured secret", () => {
  const variables: Record<string, string> = {
    RAMPKIT_API_KEY: "key-123456",
    RAMPKIT_WEBHOOK_SECRET: "one-secret,two-secret",
    RAMPKIT_DATABASE_TOKEN: "token-9",
  };
  const text = "key-123456 at /webhooks/two-secret with token-9 and one-secret";
  assert.equal(
    redact(text, (name) => variables[name]),
    "[secret] at /webhooks/[secret] with [secret] and [secret]",
  );
});
