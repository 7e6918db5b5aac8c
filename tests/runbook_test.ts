import assert from "node:assert/strict";
import { RECONCILE_CATEGORIES, RECONCILE_FLAGS } from "../ledger/mod.ts";

Deno.test("the runbook says what to do about every category and flag of reconcile", async () => {
  const text = await Deno.readTextFile(
    new URL("../RUNBOOK.md", import.meta.url),
  );
  for (const name of [...RECONCILE_CATEGORIES, ...RECONCILE_FLAGS]) {
    assert.ok(text.includes(`| \`${name}\``), name);
  }
});

Deno.test("the runbook names log entries and metrics that exist", async () => {
  const read = (path: string) =>
    Deno.readTextFile(new URL(`../${path}`, import.meta.url));
  const text = await read("RUNBOOK.md");
  assert.ok(text.includes("`delivery_refused`"));
  assert.match(await read("webhooks/log.ts"), /"delivery_refused"/);
  const code = await read("webhooks/_telemetry.ts") +
    await read("cli/metrics.ts");
  const metrics = [...text.matchAll(/`(rampkit\.[a-z.]+)`/g)];
  assert.ok(metrics.length >= 7);
  for (const [, name] of metrics) {
    assert.ok(code.includes(`"${name}"`), `metric ${name}`);
  }
});
