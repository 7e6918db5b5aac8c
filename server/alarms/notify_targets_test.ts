import assert from "node:assert/strict";
import { readConfig } from "../../core/settings/config.ts";
import { CONDITIONS } from "../../resources/health/conditions.ts";
import { found } from "../../resources/health/finding.ts";
import { AlarmSender } from "./alarm_sender.ts";
import { readNotify } from "./notify_targets.ts";
import type { AlarmCheck, StandingAlarm } from "./alarm_message.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const START = Date.UTC(2026, 10, 22, 10);
const MINUTE = 60_000;

const read = (...notify: readonly string[]) =>
  readNotify(readConfig(() => undefined, { notify }));

const DISK: StandingAlarm = {
  ...found("disk_nearly_full", {
    more: "3 MB <free> & falling",
    facts: { freeBytes: 3_000_000 },
  }),
  since: "2026-11-22T09:50:00.000Z",
};
const SUSPECTED: StandingAlarm = {
  ...found("delivery_suspected"),
  since: "2026-11-22T09:50:00.000Z",
};

function look(subject: string, alarm: StandingAlarm | null): AlarmCheck {
  return new Map([[subject, alarm]]);
}

/** What a service was sent. */
interface Came {
  readonly type: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A ledger, and a service on loopback that answers as a test says. */
async function world() {
  const ledger = await emptyLedger({
    environment: "production",
  });
  const came: Came[] = [];
  const here = { nowMs: START, answer: 200 };
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const body = JSON.parse(await request.text());
      came.push({ type: request.headers.get("content-type"), body });
      return new Response("ok", { status: here.answer });
    },
  );
  const log: string[] = [];
  const at = `http://127.0.0.1:${server.addr.port}/services/T0/SECRET`;
  const sender = (notify: string, host = "shop-1") => {
    const [target] = read(notify)(ledger.id);
    assert.ok(target !== undefined);
    return new AlarmSender({
      target,
      driver: ledger.driver,
      environment: "production",
      host,
      log: (_, event, fields) =>
        void log.push(`${event} ${JSON.stringify(fields)}`),
      now: () => here.nowMs,
    });
  };
  return {
    ...{ came, here, log, sender, ledgerId: ledger.id },
    slack: `slack:${at}`,
    pagerduty: `pagerduty:${KEY} ${at}`,
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      await ledger[Symbol.asyncDispose]();
    },
  };
}

Deno.test("Slack is told that an alarm is raised and over, in the form of its incoming webhooks", async () => {
  await using world_ = await world();
  const { came, slack } = world_;
  const sender = world_.sender(slack);
  await sender.notify(look("disk", DISK));
  await sender.notify(look("disk", DISK));
  await sender.notify(look("disk", null));
  const means = CONDITIONS.disk_nearly_full.means;
  assert.deepEqual(came, [
    {
      type: "application/json",
      body: {
        text: `Alarm, production: ${means}: 3 MB &lt;free&gt; &amp; falling`,
        blocks: [
          {
            type: "section",
            text: {
              type: "mrkdwn",
              text: `*Alarm, production*\n${means}: 3 MB &lt;free&gt; &amp; ` +
                "falling",
            },
          },
          {
            type: "section",
            text: {
              type: "mrkdwn",
              text: `*What to do*\n${CONDITIONS.disk_nearly_full.next}`,
            },
          },
          {
            type: "context",
            elements: [{
              type: "mrkdwn",
              text: "disk_nearly_full · since 2026-11-22T09:50:00.000Z · " +
                "on shop-1 · docs/reference/health.md says more",
            }],
          },
        ],
      },
    },
    {
      type: "application/json",
      body: {
        text: `All-clear, production: Over: ${means}`,
        blocks: [
          {
            type: "section",
            text: {
              type: "mrkdwn",
              text: `*All-clear, production*\nOver: ${means}`,
            },
          },
          {
            type: "context",
            elements: [{
              type: "mrkdwn",
              text: "disk_nearly_full · since 2026-11-22T09:50:00.000Z · " +
                "until 2026-11-22T10:00:00.000Z · on shop-1 · docs/reference/health.md " +
                "says more",
            }],
          },
        ],
      },
    },
  ]);
});

Deno.test("PagerDuty is told by Events API v2, and the end has the key of the beginning", async () => {
  await using world_ = await world();
  const { came, here, pagerduty, ledgerId } = world_;
  here.answer = 202;
  const sender = world_.sender(pagerduty);
  await sender.notify(look("disk", DISK));
  await sender.notify(look("disk", null));
  const { means, next } = CONDITIONS.disk_nearly_full;
  const dedup_key = `rampkit:${ledgerId}:disk:shop-1`;
  const message = `${means}: 3 MB <free> & falling`;
  assert.deepEqual(came.map(({ body }) => body), [
    {
      routing_key: KEY,
      dedup_key,
      event_action: "trigger",
      client: "Rampkit",
      payload: {
        summary: `production: ${message}`,
        source: "shop-1",
        severity: CONDITIONS.disk_nearly_full.level === "problem"
          ? "critical"
          : "warning",
        timestamp: DISK.since,
        component: "disk",
        group: "production",
        class: "disk_nearly_full",
        custom_details: {
          freeBytes: 3_000_000,
          message,
          what_to_do: next,
          runbook: "docs/reference/health.md#disk_nearly_full",
        },
      },
    },
    { routing_key: KEY, dedup_key, event_action: "resolve" },
  ]);
});

Deno.test("PagerDuty's key of another alarm of the same subject is the same, so that its end closes both", async () => {
  await using world_ = await world();
  const { came, pagerduty } = world_;
  const sender = world_.sender(pagerduty);
  await sender.notify(look("delivery", SUSPECTED));
  await sender.notify(
    look("delivery", {
      ...SUSPECTED,
      ...found("delivery_failing"),
      since: "x",
    }),
  );
  await sender.notify(look("delivery", null));
  const keys = came.map(({ body }) => body.dedup_key);
  assert.deepEqual([keys.length, new Set(keys).size], [3, 1]);
});

Deno.test("a service that takes nothing is told later, once, also after a restart, and no secret is logged", async () => {
  await using world_ = await world();
  const { came, here, log, slack, pagerduty } = world_;
  for (const notify of [slack, pagerduty]) {
    here.answer = 429;
    const first = world_.sender(notify);
    await first.notify(look("delivery", SUSPECTED));
    here.answer = 200;
    here.nowMs += MINUTE;
    for (let restart = 0; restart < 2; restart++) {
      await world_.sender(notify).notify(look("delivery", SUSPECTED));
    }
  }
  assert.equal(came.length, 4);
  assert.match(log.join(), /alarm_not_sent .*"target":"slack:[0-9a-f]{8}"/);
  assert.doesNotMatch(log.join(), /SECRET|T0|0123456789abcdef0/);
});

Deno.test("of two processes on one ledger one tells a service", async () => {
  await using world_ = await world();
  const senders = ["shop-1", "shop-2"].map((host) =>
    world_.sender(world_.slack, host)
  );
  for (let looks = 0; looks < 3; looks++) {
    await Promise.all(
      senders.map((sender) => sender.notify(look("delivery", SUSPECTED))),
    );
  }
  assert.equal(world_.came.length, 1);
});

Deno.test("readNotify() refuses what it cannot tell, and repeats no secret", () => {
  for (
    const [given, message] of [
      ["slack:hooks.slack.example/T0/SECRET", /https address that the service/],
      ["slack:http://8.8.8.8/SECRET", /none that messages may be sent to/],
      ["pagerduty:SECRET", /not an integration key/],
      [`pagerduty:${KEY} ftp://SECRET`, /address of pagerduty/],
      ["teams:SECRET", /neither slack: nor pagerduty:/],
      ["https://hooks.slack.com/SECRET", /neither slack: nor pagerduty:/],
    ] as const
  ) {
    assert.throws(() => read(given), (error: Error) => {
      assert.equal(error.name, "UsageError");
      assert.match(error.message, message);
      assert.match(error.message, /--notify/);
      assert.doesNotMatch(error.message, /SECRET/);
      return true;
    });
  }
  const twice = `pagerduty:${KEY}`;
  assert.throws(() => read(twice, twice), /named twice/);
});

Deno.test("readNotify() reads a list from the variable, and shows none of it", () => {
  const config = readConfig(
    (name) =>
      name === "RAMPKIT_NOTIFY"
        ? `slack:https://hooks.slack.com/services/T0/a,b, pagerduty:${KEY}`
        : undefined,
  );
  const targets = readNotify(config)("L1");
  assert.deepEqual(targets.map(({ url }) => url.href), [
    "https://hooks.slack.com/services/T0/a,b",
    "https://events.pagerduty.com/v2/enqueue",
  ]);
  for (const { name, shown } of targets) {
    assert.match(name, /^(slack|pagerduty):[0-9a-f]{8}$/);
    assert.equal(name, shown);
  }
});
