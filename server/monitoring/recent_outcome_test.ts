import assert from "node:assert/strict";
import { RecentOutcome } from "./log_alerts.ts";

Deno.test("RecentOutcome names the problem until a write succeeds, or a minute has gone by", async () => {
  let nowMs = 0;
  const full = new Error("The disk is full");
  const outcome = new RecentOutcome(() => nowMs);
  const fails = () => Promise.reject(full);
  assert.equal(outcome.problem, null);
  await assert.rejects(outcome.of(fails()), /The disk is full/);
  nowMs = 59_999;
  assert.equal(outcome.problem, full);
  nowMs = 60_000;
  assert.equal(outcome.problem, null);
  await assert.rejects(outcome.of(fails()));
  assert.equal(outcome.problem, full);
  await outcome.of(Promise.resolve());
  assert.equal(outcome.problem, null);
});
