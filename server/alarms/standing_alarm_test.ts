import assert from "node:assert/strict";
import { type Finding, found } from "../../resources/health/finding.ts";
import { isLocal, StandingAlarms } from "./standing_alarm.ts";

const START = Date.UTC(2026, 10, 22, 10);

/** What two looks in a row make of findings; the second is a minute later. */
function twice(alarms: StandingAlarms, findings: readonly Finding[], at = 0) {
  alarms.take(findings, START + at);
  return alarms.take(findings, START + at + 60_000);
}

Deno.test("StandingAlarms.take() believes what two looks in a row agree on, and keeps the beginning", () => {
  const alarms = new StandingAlarms();
  const full = [found("disk_nearly_full")];
  const well = [found("disk_has_room")];
  const take = (findings: readonly Finding[], minute: number) =>
    alarms.take(findings, START + minute * 60_000).get("disk");
  assert.equal(take(full, 0), undefined);
  assert.equal(take(well, 1), undefined);
  assert.equal(take(full, 2), undefined);
  assert.equal(take(full, 3)?.since, "2026-11-22T10:02:00.000Z");
  // A subject that was not looked at stays as it is, and so does one that
  // could not be.
  assert.equal(take([], 4)?.code, "disk_nearly_full");
  const unseen = [found("not_looked_at", { subject: "disk" })];
  assert.equal(take(unseen, 5)?.code, "disk_nearly_full");
  assert.equal(take(unseen, 6)?.code, "disk_nearly_full");
  assert.equal(take(well, 7)?.since, "2026-11-22T10:02:00.000Z");
  assert.equal(take(well, 8), null);
});

Deno.test("StandingAlarms.take() takes a warning for an alarm only where the table says so", () => {
  const look = twice(new StandingAlarms(), [
    found("released_unchecked"),
    found("ids_refused"),
  ]);
  assert.equal(look.get("comparison")?.code, "released_unchecked");
  assert.equal(look.get("refused_ids"), null);
});

Deno.test("StandingAlarms.take() has an alarm of each receiver, and ends it when the receiver is gone", () => {
  const alarms = new StandingAlarms();
  const dead = (about: string) => found("dead_letters", { about });
  const both = twice(alarms, [dead("shop"), dead("books")]);
  assert.deepEqual([...both].map(([name, alarm]) => [name, alarm?.code]), [
    ["forwarding", undefined],
    ["forwarding:shop", "dead_letters"],
    ["forwarding:books", "dead_letters"],
  ]);
  const works = found("receiver_works", { about: "shop" });
  const over = twice(alarms, [works], 120_000);
  assert.equal(over.get("forwarding:shop"), null);
  assert.equal(over.get("forwarding:books"), null);
});

Deno.test("isLocal() tells what each machine has its own of", () => {
  assert.equal(isLocal("disk"), true);
  assert.equal(isLocal("forwarding:shop"), false);
});
