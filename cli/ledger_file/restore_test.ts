import assert from "node:assert/strict";
import { fileId } from "../../ledger/for_ledger_file.ts";
import { openLedger } from "../../ledger/mod.ts";
import { readAnchor } from "../../ledger/testing/mod.ts";
import { testEvents } from "../../ledger/testing/test_events.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { readConfig } from "../../core/settings/config.ts";
import type { Io } from "../program/io.ts";
import { restore, RESTORE_STEPS, restoreJob } from "./backup.ts";

const io: Io = {
  out: () => {},
  err: () => {},
  env: () => undefined,
  columns: null,
  colour: false,
  now: () => Date.now(),
  signal: new AbortController().signal,
};

/** Restores, and is killed after the step at this place, if there is one. */
async function restoreUntil(
  databaseUrl: string,
  backup: string,
  last: number,
): Promise<void> {
  if (last >= RESTORE_STEPS.length) {
    await restore(io, readConfig(io.env, { databaseUrl }), backup);
    return;
  }
  let job = restoreJob(io, readConfig(io.env, { databaseUrl }), backup);
  for (const step of RESTORE_STEPS.slice(0, last + 1)) job = await step(job);
  Deno.kill(Deno.pid, "SIGKILL");
}

/** The same in a process of its own. Returns the signal that ended it. */
async function restoreElsewhere(
  url: string,
  backup: string,
  last: number,
): Promise<Deno.Signal | null> {
  const { code, signal } = await new Deno.Command("deno", {
    args: [
      ...["run", "--no-prompt", "--quiet", "--no-check"],
      ...["--allow-env", "--allow-sys"],
      ...["--allow-read", "--allow-write", "--allow-run"],
      ...[import.meta.filename ?? "", url, backup, String(last)],
    ],
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  assert.ok(signal !== null || code === 0);
  return signal;
}

/** Adds events to a ledger and chains them. */
async function extend(url: string, from: number, count: number): Promise<void> {
  await using ledger = await openLedger({
    url,
    environment: "sandbox",
    worker: false,
  });
  await ledger.append(testEvents(count, from));
  await ledger.project();
}

const [url, backup = "", last] = Deno.args;
if (import.meta.main && url !== undefined) {
  await restoreUntil(url, backup, Number(last));
} else tests();

function tests(): void {
  Deno.test("restore() that is killed after any step leaves one ledger and the anchored head that belongs to it, and can be run again", async () => {
    await using folder = await temporaryFolder();
    const made = `${folder.path}/made.db`;
    const [path, backup] = [
      `${folder.path}/ledger.db`,
      `${folder.path}/backup.db`,
    ];
    await extend(`file:${made}`, 0, 2);
    await Deno.copyFile(made, backup);
    await extend(`file:${made}`, 2, 3);
    // This process may have those files open until it ends.
    for (const end of ["", "-chain"]) {
      await Deno.copyFile(made + end, path + end);
    }
    const old = fileId(path);
    for (const [at, { name }] of RESTORE_STEPS.entries()) {
      // Each goes on from what the one before it left.
      const signal = await restoreElsewhere(`file:${path}`, backup, at);
      assert.equal(signal, "SIGKILL", name);
      const { head, resets } = await readAnchor(path);
      const swapped = fileId(path) !== old;
      assert.deepEqual(
        [swapped, head?.events ?? null, resets.map(({ events }) => events)],
        ["swap", "giveUpHead", "record"].includes(name)
          ? [true, null, [5]]
          : [false, 5, []],
        name,
      );
    }
    await restoreElsewhere(`file:${path}`, backup, RESTORE_STEPS.length);
    await extend(`file:${path}`, 10, 4);
    await using ledger = await openLedger({
      url: `file:${path}`,
      worker: false,
    });
    const { ok, events, anchoredHead, resets } = await ledger.verify();
    assert.deepEqual(
      [ok, events, anchoredHead?.events, resets.length],
      [true, 6, 6, 1],
    );
  });
}
