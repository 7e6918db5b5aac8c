import assert from "node:assert/strict";
import {
  type Config,
  readConfig,
  requireApiKey,
  requireWebhookSecrets,
} from "./config.ts";
import { UsageError } from "./errors.ts";

function config(
  variables: Record<string, string>,
  flags: Record<string, string> = {},
): Config {
  return readConfig((name) => variables[name], flags);
}

Deno.test("readConfig() has a default for the database and none for secrets", () => {
  const { databaseUrl, apiKey, webhookSecrets, environment } = config({});
  assert.equal(databaseUrl, "file:rampkit.db");
  assert.equal(apiKey, null);
  assert.deepEqual(webhookSecrets, []);
  assert.equal(environment, null);
});

Deno.test("readConfig() lets flags win over variables", () => {
  const read = config({
    RAMPKIT_ENVIRONMENT: "production",
    RAMPKIT_DATABASE_URL: "file:a.db",
  }, { environment: "sandbox", databaseUrl: "file:b.db" });
  assert.equal(read.environment, "sandbox");
  assert.equal(read.databaseUrl, "file:b.db");
});

Deno.test("readConfig() takes several secrets and drops blanks between them", () => {
  const { webhookSecrets } = config({
    RAMPKIT_WEBHOOK_SECRET: "first-secret-0001, second-secret-0002,,",
  });
  assert.deepEqual(webhookSecrets, ["first-secret-0001", "second-secret-0002"]);
});

Deno.test("readConfig() counts an empty variable as not set", () => {
  assert.equal(config({ RAMPKIT_API_KEY: " " }).apiKey, null);
});

Deno.test("readConfig() does not repeat the password of a foreign database", () => {
  assert.throws(
    () => config({ RAMPKIT_DATABASE_URL: "postgres://me:s3cret@localhost/x" }),
    (error) =>
      error instanceof UsageError && error.message.includes("postgres://") &&
      !error.message.includes("s3cret") && !error.message.includes("file:post"),
  );
});

Deno.test("readConfig() does not repeat user, password or query of an address that is none", () => {
  const address = "ftp://me:word@host/path?token=word#word";
  assert.throws(
    () =>
      readConfig((name) => name === "RAMPKIT_BASE_URL" ? address : undefined),
    {
      message: 'Wrong RAMPKIT_BASE_URL: "ftp://[secret]@host/path" is not an ' +
        "http or https address",
    },
  );
});

Deno.test("readConfig() refuses what cannot be right and names the variable", () => {
  for (
    const [name, value] of [
      ["RAMPKIT_ENVIRONMENT", "prod"],
      ["RAMPKIT_DATABASE_URL", "ledger.db"],
      ["RAMPKIT_BASE_URL", "partner.example"],
      ["RAMPKIT_PUBLIC_URL", "ftp://partner.example"],
    ] as const
  ) {
    assert.throws(
      () => config({ [name]: value }),
      (error) =>
        error instanceof UsageError && error.message.includes(name) &&
        error.message.includes(value),
      name,
    );
  }
});

Deno.test("readConfig() refuses a secret that an address cannot carry, without showing it", () => {
  assert.throws(
    () => config({ RAMPKIT_WEBHOOK_SECRET: "top secret/value" }),
    (error) =>
      error instanceof UsageError && !error.message.includes("top secret") &&
      error.message.includes("RAMPKIT_WEBHOOK_SECRET"),
  );
});

Deno.test("requireApiKey() and requireWebhookSecrets() name the variable that is missing", () => {
  assert.throws(() => requireApiKey(config({})), /RAMPKIT_API_KEY/);
  assert.throws(
    () => requireWebhookSecrets(config({})),
    /RAMPKIT_WEBHOOK_SECRET/,
  );
});

Deno.test("readConfig() refuses a key that no header can carry, without showing it", () => {
  for (const key of ["…", "two words", "line\nbreak"]) {
    assert.throws(
      () => config({ RAMPKIT_API_KEY: key }),
      (error) =>
        error instanceof UsageError &&
        /^Wrong RAMPKIT_API_KEY: /.test(error.message) &&
        (key === "…" || !error.message.includes(key)),
      key,
    );
  }
  assert.equal(config({ RAMPKIT_API_KEY: " a-key\n" }).apiKey, "a-key");
});

Deno.test("readConfig() refuses a database address without a file", () => {
  for (const url of ["file:", "file:///"]) {
    assert.throws(
      () => config({ RAMPKIT_DATABASE_URL: url }),
      (error) =>
        error instanceof UsageError && /names no file/.test(error.message),
    );
  }
});

Deno.test("readConfig() refuses a value in quotes, which a file of variables made part of it", () => {
  for (const value of ['"a-secret-key"', "'a-secret-key'"]) {
    assert.throws(
      () =>
        readConfig((name) => name === "RAMPKIT_API_KEY" ? value : undefined),
      (error) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, /^Wrong RAMPKIT_API_KEY: .*in quotes/);
        assert.doesNotMatch(error.message, /a-secret/);
        return true;
      },
    );
  }
});
