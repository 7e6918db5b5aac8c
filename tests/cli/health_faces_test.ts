import assert from "node:assert/strict";
import { type Ledger, openLedger } from "../../ledger/mod.ts";
import { writeWaiting } from "../../ledger/for_server.ts";
import { takeLease, writeSweep } from "../../ledger/for_sync.ts";
import { orderSnapshot, webhookEvent } from "../../ledger/testing/mod.ts";
import { addRefusedRequests, lookForDrift } from "../../sync/check/drift.ts";
import { watchdog } from "../../sync/mod.ts";
import {
  ALARM_CODES,
  type ConditionCode,
  CONDITIONS,
  STANDING_CODES,
  SUBJECTS,
} from "../../resources/health/conditions.ts";
import {
  checkOf,
  type Finding,
  found,
} from "../../resources/health/finding.ts";
import { serviceStatus } from "../../resources/queries/service_status.ts";
import {
  type Problem,
  StandingAlarms,
} from "../../server/alarms/alarm_message.ts";
import {
  ProblemChanges,
  problemLog,
} from "../../server/alarms/alarm_sender.ts";
import { readinessOf } from "../../server/compose/readiness.ts";
import {
  healthBar,
  healthParts,
} from "../../server/console/health/health_bar.ts";
import { FindingsReport, lookAround } from "../../server/health/look_around.ts";
import { backupName } from "../../server/ledger_file/regular_backups.ts";
import { holdLedger } from "../../server/ledger_file/ledger_lock.ts";
import { serviceMetrics } from "../../server/monitoring/metrics.ts";
import { PrometheusMetrics } from "../../server/monitoring/prometheus/prometheus_metrics.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

const HOUR = 3_600_000;
const salt = new Uint8Array(16);

/** A time so long ago, UTC ISO 8601. */
function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

/** Where a condition is made true. */
interface Place {
  readonly folder: string;
  readonly url: string;
  readonly ledger: Ledger;
  /** Runs statements on the ledger. */
  sql(...statements: string[]): Promise<void>;
  /** Lets go of it when the faces were looked at. */
  readonly resources: DisposableStack;
}

/** What a condition is made true by, beside the ledger. */
interface Made {
  /** Settings of `doctor`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder that `doctor` is told. */
  readonly backups?: string;
}

type Make = (place: Place) => Promise<Made | void> | Made | void;

/** A reading of an order, recorded so long ago. */
function reading(ms: number, fields: Record<string, unknown> = {}) {
  return orderSnapshot({
    source: JSON.stringify({
      order_id: "01KQORDER00000000000000001",
      status: "success",
      currency: "USD",
      currency_amount: 10,
      crypto: "eth.simple.ethereum",
      crypto_amount: 0.01,
      tx_id: `0x${"1".repeat(64)}`,
      created_at: ago(ms),
      ...fields,
    }),
    readAt: ago(ms),
    recordedAt: ago(ms),
    salt,
  });
}

/** What only the running `serve` sees: it says so to the others. */
const reported = (code: ConditionCode): Make => async ({ ledger }) => {
  await new FindingsReport(ledger.driver).take([found(code)], Date.now());
};

/** The watchdog has watched for an hour; then something happened. */
const watched = (then: Make): Make => async (place) => {
  const { ledger } = place;
  for (const nowMs of [Date.now() - HOUR, Date.now()]) {
    const { remember } = await watchdog(ledger.driver, {
      nowMs,
      everyMs: HOUR,
    });
    await ledger.driver.batch(remember, "write");
  }
  return await then(place);
};

/** Changes of an order that no webhook announced, so many minutes ago. */
const silent = ({ sql }: Place) =>
  sql(
    ...["progress", "success"].map((status) =>
      `INSERT INTO observed (order_id, status, moved_at, seen_at)
        VALUES ('01ORDER', '${status}', '${ago(50 * 60_000)}', '${
        ago(50 * 60_000)
      }')`
    ),
  );

const webhook = (ms: number) =>
  webhookEvent({
    id: "01KA0000000000000000000001",
    receivedAt: ago(ms),
    body: new TextEncoder().encode('{"type":"login","user_id":"01USER"}'),
  }, salt);

/** A handler that always fails, or works, on an order that succeeded. */
const subscribed = (
  maxAttempts: number,
  dispatches = true,
): Make =>
async ({ ledger }) => {
  const shop = await ledger.subscribe(
    "shop",
    { on: "order.*.*", from: "start", maxAttempts },
    () => Promise.reject(new Error("Out of stock")),
  );
  await shop.stop();
  await ledger.append([reading(2 * 60_000)]);
  await ledger.project();
  if (!dispatches) return;
  const again = await ledger.subscribe(
    "shop",
    { on: "order.*.*", maxAttempts },
    () => Promise.reject(new Error("Out of stock")),
  );
  await again.dispatch();
  await again.stop();
};

/** A server that answers `doctor` like this. */
function answering(
  { resources }: Place,
  answer: (request: Request) => Response,
): string {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    answer,
  );
  resources.defer(() => void server.shutdown());
  return `http://127.0.0.1:${server.addr.port}`;
}

/** The service, whose clock is so far off. */
const serviceOff = (offMs: number): Make => (place) => ({
  env: {
    RAMPKIT_API_KEY: "key",
    RAMPKIT_BASE_URL: answering(
      place,
      () =>
        Response.json({ success: true, data: [], total: 0 }, {
          headers: { date: new Date(Date.now() + offMs).toUTCString() },
        }),
    ),
  },
});

const backup = (name: string, text: string): Make => async ({ folder }) => {
  const backups = `${folder}/backups`;
  await Deno.mkdir(backups);
  if (name !== "") await Deno.writeTextFile(`${backups}/${name}`, text);
  return { backups };
};

/** How each condition is made true. */
const MAKERS: Partial<Readonly<Record<ConditionCode, Make>>> = {
  api_key_missing: () => {},
  webhook_secret_missing: () => {},
  webhook_secret_short: () => ({ env: { RAMPKIT_WEBHOOK_SECRET: "short" } }),
  serve_not_running: () => {},
  serve_died: ({ folder }) =>
    Deno.writeTextFile(
      `${folder}/ledger.db-use.json`,
      JSON.stringify({ pid: 7, database: "1:1" }),
    ),
  ledger_replaced: async ({ folder, resources }) => {
    const held = await holdLedger({ databaseUrl: `file:${folder}/ledger.db` });
    resources.use(held);
    await Deno.copyFile(`${folder}/ledger.db`, `${folder}/before`);
    held.announce();
    const said = `${folder}/ledger.db-use.json`;
    const holder = JSON.parse(await Deno.readTextFile(said));
    const other = JSON.stringify({ ...holder, database: "1:1" });
    await Deno.writeTextFile(said, other);
  },
  spool_unreadable: ({ folder }) =>
    Deno.writeTextFile(`${folder}/ledger.db-spool`, ""),
  spool_damaged: async ({ folder }) => {
    await Deno.mkdir(`${folder}/ledger.db-spool`);
    await Deno.writeTextFile(
      `${folder}/ledger.db-spool/1.inbox.db.damaged`,
      "?",
    );
  },
  spool_left: async ({ folder }) => {
    await Deno.mkdir(`${folder}/ledger.db-spool`);
    await Deno.writeTextFile(
      `${folder}/ledger.db-spool/00000001-1-1.inbox.db`,
      "1".repeat(99),
    );
  },
  spool_nearly_full: reported("spool_nearly_full"),
  large_bodies_refused: reported("large_bodies_refused"),
  ledger_refuses: reported("ledger_refuses"),
  deliveries_refused: reported("deliveries_refused"),
  disk_full: reported("disk_full"),
  disk_nearly_full: reported("disk_nearly_full"),
  events_not_folded: reported("events_not_folded"),
  backup_failing: reported("backup_failing"),
  deliveries_left: ({ ledger }) =>
    writeWaiting(
      ledger.driver,
      { place: "/spool", process: "1" },
      { count: 3, oldestMs: Date.now() - 3 * HOUR },
      Date.now() - HOUR,
    ),
  deliveries_waiting: ({ ledger }) =>
    writeWaiting(
      ledger.driver,
      { place: "/spool", process: "1" },
      { count: 3, oldestMs: Date.now() - 61_000 },
      Date.now(),
    ),
  folding_behind: async ({ ledger }) => {
    const sessions = Array.from({ length: 1001 }, (_, n) => ({
      session_id: `S${n}`,
      flow_type: "simple",
    }));
    for (const session of sessions) await ledger.recordSession(session);
  },
  fold_newer: async ({ ledger, sql }) => {
    await ledger.project();
    await sql("UPDATE ledger SET fold_version = 99");
  },
  chain_broken: async ({ ledger, sql }) => {
    await ledger.append([webhook(HOUR)]);
    await ledger.project();
    await sql("DELETE FROM seals");
  },
  assets_unknown: async ({ ledger }) => {
    await ledger.append([reading(HOUR, { crypto: "xyz.simple.nowhere" })]);
    await ledger.project();
  },
  delivery_never_worked: watched(silent),
  delivery_suspected: watched(async (place) => {
    await place.ledger.append([webhook(HOUR - 1000)]);
    await place.ledger.project();
    await silent(place);
  }),
  delivery_failing: watched(async ({ ledger }) => {
    await ledger.append([webhook(30 * 60_000)]);
    await ledger.recordUnanswered({
      id: "01KA0000000000000000000001",
      noticedAt: ago(29 * 60_000),
      answer: "503",
    });
    await ledger.project();
  }),
  answers_drifted: async ({ ledger }) => {
    await ledger.append([orderSnapshot({
      source: '{"order_id":"01ORDER","status":"refunded"}',
      readAt: ago(HOUR),
      recordedAt: ago(HOUR),
      salt,
    })]);
    await ledger.project();
    await lookForDrift(ledger.driver, Date.now());
  },
  webhooks_drifted: async ({ ledger }) => {
    await ledger.appendDelivery({
      id: "01KA0000000000000000000000",
      receivedAt: ago(HOUR),
      body: new TextEncoder().encode('{"type":"coffee_brewed"}'),
    });
    await ledger.project();
    await lookForDrift(ledger.driver, Date.now());
  },
  requests_refused: ({ ledger }) =>
    addRefusedRequests(ledger.driver, { wrong_secret: 3 }, Date.now()),
  endpoint_secret_named: () => ({
    env: { RAMPKIT_PUBLIC_URL: "http://127.0.0.1:1/webhooks/secret" },
  }),
  endpoint_wrong: (place) => ({
    env: {
      RAMPKIT_PUBLIC_URL: answering(
        place,
        () => new Response(null, { status: 404 }),
      ),
    },
  }),
  endpoint_unreachable: () => ({
    env: { RAMPKIT_PUBLIC_URL: "http://127.0.0.1:1" },
  }),
  polling_not_begun: () => {},
  polling_idle: ({ ledger }) =>
    ledger.append([reading(2 * HOUR)]).then(() => {}),
  poll_clock_set_back: ({ ledger }) =>
    ledger.append([reading(-2 * HOUR)]).then(() => {}),
  poll_failing: async ({ ledger }) => {
    const failure = {
      ...{ sweep: "new", attempts: 2, since: ago(HOUR), lastAt: ago(1000) },
      ...{ nextAttemptAt: ago(-1000), cause: "network", status: null },
      message: "No route to the service",
    };
    const health = { failures: [failure], workedAt: null };
    await ledger.driver.batch(
      [writeSweep("poll_health", health, Date.now())],
      "write",
    );
  },
  poll_stalled: async ({ ledger }) => {
    await ledger.append([reading(181_000)]);
    const lease = { name: "poll", holder: "test", leaseMs: 60_000 };
    await takeLease(ledger.driver, lease);
  },
  confirmations_waiting: async ({ ledger }) => {
    const named =
      '{"type":"order_complete","order":{"id":"01KQORDER00000000000000001"}}';
    await ledger.append([
      reading(2 * HOUR, { status: "created" }),
      webhookEvent({
        id: "01KA0000000000000000000001",
        receivedAt: ago(HOUR),
        body: new TextEncoder().encode(named),
      }, salt),
    ]);
    await ledger.project();
  },
  cron_silent: ({ ledger }) =>
    ledger.driver.batch([
      writeSweep("cron", { at: ago(HOUR) }, Date.now() - HOUR),
    ], "write").then(() => {}),
  ids_refused: ({ sql }) =>
    sql(`INSERT INTO set_aside
        (entity, id, kind, why, since, attempts, again_at)
      VALUES ('order', '01BAD', 'refused', 'It answered 403',
        '${ago(HOUR)}', 1, ${Date.now() + HOUR})`),
  released_unchecked: async ({ ledger }) => {
    await ledger.goLive(ago(2 * HOUR));
    await ledger.append([reading(HOUR)]);
    await ledger.project();
  },
  orders_waiting: async ({ ledger }) => {
    await ledger.goLive(ago(2 * HOUR));
    await ledger.append([reading(HOUR, { status: "cancelled" })]);
    await ledger.project();
  },
  receiver_failing: subscribed(5),
  receiver_idle: subscribed(5, false),
  dead_letters: subscribed(1),
  receiver_off: async (place) => {
    await subscribed(5, false)(place);
    await place.sql(`INSERT INTO targets (name, url, off_at, off_reason)
      VALUES ('shop', 'https://shop.example/', '${
      ago(HOUR)
    }', 'answered 410')`);
  },
  // What the running `serve` sees of the chain nodes.
  node_behind: reported("node_behind"),
  node_disagrees: reported("node_disagrees"),
  node_forgets: reported("node_forgets"),
  node_of_other_chain: reported("node_of_other_chain"),
  node_refuses: reported("node_refuses"),
  node_silent: reported("node_silent"),
  node_unusable: reported("node_unusable"),
  nodes_not_asked: reported("nodes_not_asked"),
  backups_none: backup("", ""),
  backup_doubtful: backup(backupName(Date.now() - HOUR), ""),
  backup_old: backup(backupName(Date.now() - 30 * HOUR), "pages"),
  backups_unreadable: ({ folder }) => ({ backups: `${folder}/ledger.db` }),
  service_failing: (place) => ({
    env: {
      RAMPKIT_API_KEY: "key",
      RAMPKIT_BASE_URL: answering(
        place,
        () => Response.json({ message: "unauthorized" }, { status: 401 }),
      ),
    },
  }),
  clock_off: serviceOff(60_000),
  clock_wrong: serviceOff(HOUR),
};

/**
 * Conditions in which there is no ledger to look at, or that only a bundled
 * program is in; tests of `doctor` and `startOnramp` have them.
 */
const ELSEWHERE: readonly ConditionCode[] = [
  "database_thread_missing",
  "base_url_loopback",
  "ledger_missing",
  "ledger_not_made",
  "ledger_not_opened",
  "pages_damaged",
  "not_looked_at",
];

Deno.test("every condition that can stand is made true here, or in a test of doctor or start", () => {
  const made = [...Object.keys(MAKERS), ...ELSEWHERE];
  assert.deepEqual(made.toSorted(), [...STANDING_CODES].toSorted());
});

/** A spool that takes deliveries. */
const SPOOL = { depth: 0, oldestMs: null, ready: () => Promise.resolve() };

/** What each face shows of findings. */
async function shownBy(
  ledger: Ledger,
  findings: readonly Finding[],
  code: ConditionCode,
): Promise<Record<string, boolean>> {
  const nowMs = Date.now();
  const prometheus = new PrometheusMetrics();
  serviceMetrics({ prometheus, time: () => nowMs }).conditions(findings);
  const raised: unknown[] = [];
  const problems: Problem[] = [];
  const alarms = new StandingAlarms();
  alarms.take(findings, nowMs);
  const log = problemLog((_, event, fields) => {
    if (event === "alarm_raised") raised.push(fields?.code);
  });
  new ProblemChanges((problem) => {
    problems.push(problem);
    log(problem);
  }).take(alarms.take(findings, nowMs + (CONDITIONS[code].alarmAfterMs ?? 0)));
  const status = await serviceStatus(
    ledger,
    nowMs,
    () => Promise.resolve(findings),
  );
  const ready = await readinessOf({
    open: () => ledger,
    now: () => nowMs,
    found: findings,
    // Where deliveries are stored, the process that answers sees itself.
    refusal: CONDITIONS[code].subject === "storing"
      ? new Error("The disk is full")
      : null,
    ...(code === "deliveries_refused" ? {} : { spool: SPOOL }),
  });
  const bar = healthBar(healthParts(findings), nowMs).toString();
  const { means, subject } = CONDITIONS[code];
  return {
    "/v1/status": status.checks.some((one) => one.code === code),
    "/readyz": ready.conditions.some((one) => one.code === code),
    metric: prometheus.text().includes(
      `rampkit_condition{code="${code}",subject="${subject}"} 1`,
    ),
    console: bar.includes(
      `${means.replaceAll("&", "&amp;").replaceAll("'", "&#39;")}`,
    ),
    alarm: raised.includes(code),
    onProblem: problems.some((one) =>
      one.code === code && one.level !== "fine" && one.message !== ""
    ),
  };
}

for (const [name, make] of Object.entries(MAKERS)) {
  const code = name as ConditionCode;
  const { subject } = CONDITIONS[code];
  const { part, byDoctorAlone = false } = SUBJECTS[subject];
  Deno.test(`${code}: doctor says it${byDoctorAlone ? "" : ", and so does every face"}`, async () => {
    await using stored = await temporaryLedger();
    await using ledger = await openLedger({
      url: stored.url,
      environment: "sandbox",
      worker: false,
    });
    using resources = new DisposableStack();
    const { env = {}, backups } = await make({
      folder: stored.folder,
      url: stored.url,
      ledger,
      resources,
      sql: async (...statements) => {
        const all = statements.map((sql) => ({ sql, args: [] }));
        await ledger.driver.batch(all, "write");
      },
    }) ?? {};
    const doctor = await cli([
      "doctor",
      "--json",
      ...(backups === undefined ? [] : ["--backup-to", backups]),
    ], { RAMPKIT_DATABASE_URL: stored.url, ...env });
    const { checks } = JSON.parse(doctor.out);
    const check = checks.find((one: { code: string }) => one.code === code);
    assert.ok(check, doctor.out);
    assert.equal(check.name, SUBJECTS[subject].name);
    assert.equal(check.status, checkOf(found(code)).status);
    assert.ok(check.advice, "it says what to do");
    if (check.status === "fail") assert.equal(doctor.code, 1);
    if (byDoctorAlone) return;

    const findings = await lookAround({
      ledger,
      config: { databaseUrl: stored.url, spoolDir: null },
      directory: backups,
      nowMs: Date.now(),
    });
    assert.deepEqual(await shownBy(ledger, findings, code), {
      "/v1/status": true,
      "/readyz": true,
      metric: true,
      console: part !== null,
      alarm: ALARM_CODES.includes(code),
      onProblem: ALARM_CODES.includes(code),
    });
  });
}
