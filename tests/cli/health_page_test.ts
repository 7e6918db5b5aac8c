import assert from "node:assert/strict";
import { ALARM_CODES, CONDITIONS } from "../../resources/health/conditions.ts";
import { ON_CALL } from "../../resources/health/on_call.ts";
import {
  ALL_CLEARS,
  LOG_ADVICE,
  LOG_EVENTS,
  type LogEvent,
} from "../../server/monitoring/logger.ts";
import {
  RECONCILE_CATEGORIES,
  RECONCILE_FLAGS,
} from "../../sync/reconciliation/reconcile_order.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("the page says what to do about every category and flag of reconcile", async () => {
  const text = await Deno.readTextFile(`${root}/docs/reference/health.md`);
  for (const name of [...RECONCILE_CATEGORIES, ...RECONCILE_FLAGS]) {
    assert.ok(text.includes(`| \`${name}\``), name);
  }
});

Deno.test("every event of the log is written somewhere", async () => {
  const sources: string[] = [];
  for (const file of await sourceFiles(root)) {
    if (isTestFile(file) || !/^(cli|server|webhooks)\//.test(file)) continue;
    // The lists of names write nothing.
    if (/\/(log_events|endpoint_log)\.ts$/.test(file)) continue;
    sources.push(await Deno.readTextFile(`${root}/${file}`));
  }
  const code = sources.join("\n");
  const written = Object.keys(LOG_EVENTS)
    .filter((event) => code.includes(`"${event}"`));
  // An alarm writes its all-clear by itself.
  const clears: Readonly<Record<string, string>> = ALL_CLEARS;
  const unused = Object.keys(LOG_EVENTS).filter((event) =>
    !written.includes(event) &&
    !written.some((alarm) => clears[alarm] === event)
  );
  assert.deepEqual(unused, []);
});

Deno.test("every alarm of the log that lasts has its all-clear", () => {
  const lasting = Object.keys(LOG_EVENTS)
    .filter((event) => /_(failing|suspected|dropped)$/.test(event));
  assert.ok(lasting.length >= 6);
  for (const event of lasting) assert.ok(event in ALL_CLEARS, event);
});

/** Events of the log after which nobody has to do anything. */
const INFORMATION = [
  "listening",
  "stopping",
  "stopped",
  "forwarding",
  "api_listening",
  "console_listening",
  "spool_drained",
  "backup_made",
  "history_withheld",
  "order_waits_no_more",
];

Deno.test("every alarm and every event that needs somebody has its advice", () => {
  const allClears: readonly string[] = Object.values(ALL_CLEARS);
  for (const code of ALARM_CODES) {
    const { next }: { readonly next?: string } = CONDITIONS[code];
    assert.ok(next ?? ON_CALL[code], code);
  }
  for (const event of Object.keys(LOG_EVENTS) as LogEvent[]) {
    assert.match(event, /^[a-z]+(_[a-z]+)*$/);
    if (allClears.includes(event) || INFORMATION.includes(event)) continue;
    assert.ok(LOG_ADVICE[event] ?? event in CONDITIONS, event);
  }
  assert.ok(ALARM_CODES.length > 10);
});
