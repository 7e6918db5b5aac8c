import assert from "node:assert/strict";
import { ALARM_CODES } from "../../resources/health/conditions.ts";
import { ALL_CLEARS, LOG_EVENTS } from "../../server/monitoring/logger.ts";
import {
  RECONCILE_CATEGORIES,
  RECONCILE_FLAGS,
} from "../../sync/testing/mod.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

Deno.test("the runbook says what to do about every category and flag of reconcile", async () => {
  const text = await Deno.readTextFile(
    new URL("../../RUNBOOK.md", import.meta.url),
  );
  for (const name of [...RECONCILE_CATEGORIES, ...RECONCILE_FLAGS]) {
    assert.ok(text.includes(`| \`${name}\``), name);
  }
});

Deno.test("the runbook lists every event of the log with its meaning, and no other", async () => {
  const text = await Deno.readTextFile(
    new URL("../../RUNBOOK.md", import.meta.url),
  );
  const [, section = ""] = text.split("\n## Log\n");
  const [table = ""] = section.split("\n## ");
  const row = /^\| `(\w+)` +\| (.*?) +\| (?:`(\w+)`)? +\|$/gm;
  const listed = [...table.matchAll(row)]
    .map(([, event, meaning, clear]) => [event, meaning, clear]);
  const clears: Readonly<Record<string, string>> = ALL_CLEARS;
  assert.deepEqual(
    listed,
    Object.entries(LOG_EVENTS)
      .map(([event, meaning]) => [event, meaning, clears[event]]),
  );
  for (const event of Object.keys(LOG_EVENTS)) {
    assert.match(event, /^[a-z]+(_[a-z]+)*$/);
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

Deno.test("the runbook names every metric, and log entries that exist", async () => {
  const read = (path: string) =>
    Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const text = await read("RUNBOOK.md");
  assert.ok(text.includes("`delivery_refused`"));
  assert.match(
    await read("webhooks/endpoint/endpoint_log.ts"),
    /"delivery_refused"/,
  );
  const files = await Promise.all(
    (await sourceFiles(root)).filter((file) =>
      !isTestFile(file) &&
      /^(server\/(monitoring|forwarding)|webhooks\/endpoint)\//.test(
        file,
      )
    ).map(read),
  );
  // A metric may also be read where it is not made.
  const made = [
    ...new Set(
      files.flatMap((code) =>
        [...code.matchAll(/"(rampkit\.[a-z._]+)"/g)].map(([, name]) => name)
      ),
    ),
  ];
  const named = [...text.matchAll(/^\| `(rampkit\.[a-z._]+)`/gm)]
    .map(([, name]) => name);
  assert.ok(made.length > 20);
  assert.deepEqual(named.sort(), made.sort());
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
];

Deno.test("the runbook has an entry for every alarm and every event that needs somebody", async () => {
  const text = await Deno.readTextFile(
    new URL("../../RUNBOOK.md", import.meta.url),
  );
  const [, rest = ""] = text.split("\n## Alarms\n");
  const [section = ""] = rest.split("\n## ");
  const allClears: readonly string[] = Object.values(ALL_CLEARS);
  const events = Object.keys(LOG_EVENTS).filter((event) =>
    !allClears.includes(event) && !INFORMATION.includes(event)
  );
  assert.ok(ALARM_CODES.length > 10);
  for (const code of [...ALARM_CODES, ...events]) {
    assert.ok(section.includes(`\`${code}\``), code);
  }
  const forwarding = await Deno.readTextFile(
    new URL("../../FORWARDING.md", import.meta.url),
  );
  for (const code of ALARM_CODES) {
    assert.ok(forwarding.includes(`\`${code}\``), code);
  }
});
