import assert from "node:assert/strict";
import { type Finding, found } from "../../resources/health/finding.ts";
import { isLocal, StandingAlarms } from "./alarm_message.ts";

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

Deno.test("StandingAlarms.take() raises one alarm for one cause, and keeps what follows from it as it was", () => {
  const alarms = new StandingAlarms();
  const full = [
    found("disk_full"),
    found("ledger_refuses", { facts: { cause: "full" } }),
    found("deliveries_waiting", { subject: "waiting" }),
    found("events_not_folded"),
    found("backup_failing"),
    found("poll_failing", { facts: { cause: "ledger" } }),
  ];
  const raised = (look: ReturnType<typeof twice>) =>
    [...look.values()].flatMap((one) => one?.code ?? []);
  assert.deepEqual(raised(twice(alarms, full)), ["disk_full"]);
  // What has a cause of its own is told as well.
  const both = twice(alarms, [
    ...full.slice(0, 5),
    found("poll_failing", { facts: { cause: "wrong_key" } }),
  ], 120_000);
  assert.deepEqual(raised(both), ["disk_full", "poll_failing"]);
  const locked = new StandingAlarms();
  assert.deepEqual(raised(twice(locked, full.slice(1, 4))), [
    "ledger_refuses",
  ]);
  const over = twice(alarms, [
    found("disk_has_room"),
    found("ledger_writable"),
    found("polling_works"),
  ], 240_000);
  assert.deepEqual(raised(over), []);
});

Deno.test("StandingAlarms.take() raises the alarm of a receiver that fails after minutes", () => {
  const alarms = new StandingAlarms();
  const fails = [found("receiver_failing", { about: "shop" })];
  const take = (seconds: number) =>
    alarms.take(fails, START + seconds * 1000).get("forwarding:shop");
  for (let seconds = 0; seconds < 300; seconds += 15) {
    assert.equal(take(seconds), undefined, `${seconds} s`);
  }
  assert.equal(take(300)?.code, "receiver_failing");
  assert.equal(take(315)?.since, new Date(START).toISOString());
});

Deno.test("StandingAlarms.take() leaves what another machine reports to that machine", () => {
  const facts = { reportedBy: "shop-2" };
  const look = twice(new StandingAlarms(), [
    found("disk_nearly_full", { facts }),
  ]);
  assert.equal(look.get("disk"), null);
});

Deno.test("isLocal() tells what each machine has its own of", () => {
  assert.equal(isLocal("disk"), true);
  assert.equal(isLocal("forwarding:shop"), false);
});
