import assert from "node:assert/strict";
import { openLedger } from "../open_ledger.ts";
import { patient } from "../testing/patient.ts";
import { sqldAvailable, startSqld } from "../testing/sqld_test_server.ts";
import { testEvents } from "../testing/projection_test_events.ts";
import { select, statesOf } from "../testing/fold_kit.ts";
import { expectedStates } from "../testing/projection_test_kit.ts";

const processes = [1, 2, 3];

Deno.test("Ledger.project() in several processes on one file neither skips nor doubles an event", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await together(`file:${folder}/ledger.db`, 150);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test({
  name:
    "Ledger.project() in several processes on one sqld neither skips nor doubles an event",
  ignore: !sqldAvailable,
  fn: async () => {
    const directory = await Deno.makeTempDir();
    try {
      await using server = await startSqld({ directory });
      await together(server.url, 40);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});

async function together(url: string, count: number): Promise<void> {
  await using ledger = await openLedger({
    url,
    environment: "sandbox",
    ...patient,
  });
  const children = processes.map((number) =>
    new Deno.Command("deno", {
      args: [
        "run",
        "--quiet",
        "--no-prompt",
        "--no-check",
        "--no-lock",
        "--allow-env",
        "--allow-sys",
        "--allow-read",
        "--allow-write",
        "--allow-net=127.0.0.1",
        new URL("../testing/projection_test_process.ts", import.meta.url)
          .pathname,
        url,
        String(number),
        String(count),
      ],
      stdin: "null",
      stderr: "piped",
    }).output()
  );
  for (const { success, stderr } of await Promise.all(children)) {
    assert.ok(success, new TextDecoder().decode(stderr));
  }
  await ledger.project();
  const events = [
    ...new Map(
      processes.flatMap((number) => testEvents(number, count)).map((event) => [
        event.eventId,
        event,
      ]),
    ).values(),
  ];
  assert.equal(
    (await select(ledger.driver, "SELECT 1 FROM events")).length,
    events.length,
  );
  // The activity counts every event once, so nothing was skipped or doubled.
  assert.deepEqual(await statesOf(ledger.driver), expectedStates(events));
}
