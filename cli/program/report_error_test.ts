import assert from "node:assert/strict";
import { CommanderError } from "commander";
import {
  NetworkError,
  RateLimitError,
  ValidationError,
} from "../../client/mod.ts";
import { LedgerError } from "../../ledger/mod.ts";
import { PollError } from "../../sync/mod.ts";
import { hasShape } from "../../tests/kit/shape.ts";
import { SpoolError } from "../../webhooks/mod.ts";
import { errorJson } from "./report_error.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import type { Io } from "./io.ts";

function io(signal: AbortSignal = new AbortController().signal): Io {
  const env: Record<string, string> = { RAMPKIT_API_KEY: "the-api-key" };
  return {
    out: () => {},
    err: () => {},
    env: (name) => env[name],
    columns: null,
    colour: false,
    now: () => 0,
    signal,
  };
}

function told(error: unknown, signal?: AbortSignal) {
  const json = errorJson(error, io(signal));
  hasShape("error", json);
  return json.error;
}

const faults = [{ field: "network", rule: "is missing" }];

Deno.test("errorJson() gives each kind of error its code and exit code", () => {
  const codes: readonly (readonly [unknown, string, number])[] = [
    [new UsageError("Wrong --from"), "usage", 2],
    [new CommanderError(1, "commander.x", "error: bad\n(why)"), "usage", 2],
    [new CommandError("Cannot write x"), "failed", 1],
    [new CommandError("No such order", "not_found"), "not_found", 1],
    [new CommandError("It is in use", "in_use"), "in_use", 1],
    [new CommandError("Stopped: nothing", "stopped"), "stopped", 1],
    [new LedgerError("busy", "The database is busy"), "busy", 1],
    [new PollError("lease_lost", "Another poller"), "lease_lost", 1],
    [new SpoolError("disk", "Cannot write"), "disk", 1],
    [new RateLimitError("Too many", { status: 429 }), "rate_limited", 1],
    [new NetworkError("Not reached"), "network", 1],
    [new ValidationError("Wrong", { faults }), "invalid_input", 1],
    [new TypeError("x is not a function"), "unexpected", 1],
    ["a text", "unexpected", 1],
  ];
  for (const [error, code, exitCode] of codes) {
    const found = told(error);
    assert.deepEqual([found.code, found.exitCode], [code, exitCode]);
    assert.notEqual(found.message, "");
  }
});

Deno.test("errorJson() tells an interruption from a failure", () => {
  const stop = new AbortController();
  stop.abort(new DOMException("Interrupted", "AbortError"));
  const { code, exitCode } = told(stop.signal.reason, stop.signal);
  assert.deepEqual([code, exitCode], ["stopped", 1]);
});

Deno.test("errorJson() says what the service answered, and nothing of it where it was not asked", () => {
  const asked = told(
    new RateLimitError("Too many requests", { status: 429, requestId: "r-1" }),
  );
  assert.deepEqual(asked.service, {
    status: 429,
    requestId: "r-1",
    retryable: true,
  });
  const silent = told(new NetworkError("Not reached"));
  assert.equal(silent.service?.status, null);
  const input = new ValidationError("Wrong input", { faults });
  assert.deepEqual(told(input).faults, faults);
  assert.equal(told(input).service, null);
  const wrapped = new UsageError("Wrong flags", { cause: input });
  assert.deepEqual([told(wrapped).code, told(wrapped).faults], [
    "usage",
    faults,
  ]);
});

Deno.test("errorJson() hides secrets wherever they stand", () => {
  const shown = JSON.stringify([
    told(new Error("Bad key the-api-key at https://me:word@host/x")),
    told(
      new ValidationError("Wrong", {
        faults: [{ field: "the-api-key", rule: "is the-api-key" }],
      }),
    ),
    told(new RateLimitError("x", { requestId: "the-api-key" })),
    told(new CommanderError(1, "x", "error: unknown option 'the-api-key'")),
  ]);
  assert.ok(!shown.includes("the-api-key"), shown);
  assert.ok(!shown.includes("word"), shown);
});

Deno.test("errorJson() puts the parser's message into our form", () => {
  const message = "error: unknown option '--x'\n(Did you mean --y?)";
  assert.equal(
    told(new CommanderError(1, "commander.unknownOption", message)).message,
    "Unknown option '--x' (Did you mean --y?)",
  );
  assert.equal(
    told(new CommanderError(1, "commander.help", "(outputHelp)")).message,
    "Name a command: --help lists those that there are",
  );
});
