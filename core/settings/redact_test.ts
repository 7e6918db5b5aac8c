import assert from "node:assert/strict";
import { redact, withoutPasswords } from "./settings.ts";

Deno.test("redact() blots out every configured secret", () => {
  const variables: Record<string, string> = {
    RAMPKIT_API_KEY: "key-123456",
    RAMPKIT_WEBHOOK_SECRET: "one-secret,two-secret",
    RAMPKIT_DATABASE_TOKEN: "token-9",
    RAMPKIT_NOTIFY: "slack:https://hooks.example/T1/x, pagerduty:key-of-pager",
  };
  const text = "key-123456 at /webhooks/two-secret with token-9 and one-secret";
  const redacted = (text: string) => redact(text, (name) => variables[name]);
  assert.equal(
    redacted(text),
    "[secret] at /webhooks/[secret] with [secret] and [secret]",
  );
  assert.equal(
    redacted("https://hooks.example/T1/x took no key-of-pager"),
    "[secret] took no [secret]",
  );
});

Deno.test("withoutPasswords() takes users and passwords out of addresses, and leaves paths of files", () => {
  for (
    const [text, shown] of [
      [
        "libsql://me:p@ss/w:rd@host.example/db",
        "libsql://[secret]@host.example/db",
      ],
      [
        "at http://u:p@127.0.0.1:8080/x failed",
        "at http://[secret]@127.0.0.1:8080/x failed",
      ],
      ["me:s3cret@host", "[secret]@host"],
      ["file:/tmp/a@b.db", "file:/tmp/a@b.db"],
      ["file:///tmp/a@b.db", "file:///tmp/a@b.db"],
      ["https://host.example/path", "https://host.example/path"],
    ] as const
  ) assert.equal(withoutPasswords(text), shown);
});
