import {
  ATTENTION_KINDS,
  type AttentionKind,
  type Ledger,
  NO_THREAD_ADVICE,
  NO_THREAD_MEANS,
} from "../../ledger/for_resources.ts";

/** The limits beyond which something is wrong, each of them once. */
export const LIMITS = {
  /** How long an answered delivery may wait for the ledger, ms. */
  deliveryWaitsMs: 60_000,
  /** How long what a webhook named may wait for a confirming read, ms. */
  confirmationWaitsMs: 900_000,
  /** How long a poller may be silent; at work it reports every 30 s. In ms. */
  pollerSilentMs: 180_000,
  /** How old answers of the service may be without a working poller, ms. */
  answerOldMs: 3_600_000,
  /** How long crons may not have run where they poll; they do each minute. In ms. */
  cronSilentMs: 300_000,
  /** How many events may wait to be folded. */
  eventsNotFolded: 1000,
  /** How much of the disk must be free: a day of deliveries at a small shop. */
  diskFreeBytes: 268_435_456,
  /** A disk with less than this is full. */
  diskFullBytes: 1_048_576,
  /** Age beyond which refused requests are not reported, ms. */
  refusedAgoMs: 86_400_000,
  /** Age beyond which drift is not reported, ms. */
  driftAgoMs: 86_400_000,
  /** How often backups are due unless a setting says otherwise, ms. */
  backupEveryMs: 43_200_000,
  /** How many times that interval the newest backup may be old. */
  backupsMissed: 2,
  /** How long the service waits for the answer to a webhook, ms. */
  answerMs: 5000,
  /** How much a clock may differ from the service's, ms. */
  clockOffMs: 5000,
  /** Beyond this difference the times that the service states are not used, ms. */
  clockWrongMs: 120_000,
  /** How long a finding of another process holds, ms. */
  reportedMs: 120_000,
} as const;

/** The parts of the console's health bar, in their order. */
export const HEALTH_PARTS = [
  "Webhooks",
  "Polling",
  "Ledger",
  "Backlog",
  "Forwarding",
  "Comparison",
] as const;

/** A part of the console's health bar. */
export type HealthPartName = (typeof HEALTH_PARTS)[number];

/** What is checked. */
interface LookedAt {
  /** Its name in `doctor`. */
  readonly name: string;
  /** Part of the console that shows it; null when none does. */
  readonly part: HealthPartName | null;
  /** Whether each machine has its own. */
  readonly isLocal?: true;
  /** Whether only `doctor` looks at it, so that it is never an alarm. */
  readonly byDoctorAlone?: true;
}

const TABLE = {
  api_key: { name: "API key", part: null, byDoctorAlone: true },
  webhook_secret: { name: "Webhook secret", part: null, byDoctorAlone: true },
  serve: { name: "Serve", part: "Ledger", isLocal: true },
  spool: { name: "Spool", part: "Ledger", isLocal: true },
  waiting: { name: "Waiting", part: "Ledger" },
  place: { name: "Ledger", part: null, byDoctorAlone: true },
  storing: { name: "Ledger", part: "Ledger", isLocal: true },
  disk: { name: "Disk", part: "Ledger", isLocal: true },
  database: { name: "Database", part: null, byDoctorAlone: true },
  projection: { name: "Projection", part: "Ledger" },
  evidence: { name: "Evidence", part: "Ledger" },
  assets: { name: "Assets", part: null, byDoctorAlone: true },
  delivery: { name: "Delivery", part: "Webhooks" },
  freshness: { name: "Freshness", part: null },
  refusals: { name: "Refused", part: "Webhooks" },
  endpoint: { name: "Endpoint", part: null, byDoctorAlone: true },
  polling: { name: "Polling", part: "Polling" },
  backlog: { name: "Backlog", part: "Backlog" },
  refused_ids: { name: "Refused ids", part: "Backlog" },
  drift: { name: "Drift", part: "Comparison" },
  orders: { name: "Orders", part: null },
  comparison: { name: "Comparison", part: "Comparison" },
  nodes: { name: "Chain nodes", part: "Comparison" },
  forwarding: { name: "Forwarding", part: "Forwarding" },
  backups: { name: "Backups", part: "Ledger", isLocal: true },
  service: { name: "Service", part: null, byDoctorAlone: true },
  clock: { name: "Clock", part: null, byDoctorAlone: true },
} as const satisfies Readonly<Record<string, LookedAt>>;

/** Code of what is checked. */
export type Subject = keyof typeof TABLE;

/** Everything that is checked, in the order in which it is shown. */
export const SUBJECTS: Readonly<Record<Subject, LookedAt>> = TABLE;

/** Orders that wait for one reason are counted up to here. */
export const COUNTED = 50;

/** How many orders wait, and for which reason. */
export type Waiting = readonly {
  readonly kind: AttentionKind;
  readonly count: number;
}[];

/** Counts the orders that wait, up to a number that is shown as "more". */
export async function countWaiting(
  ledger: Ledger,
  nowMs: number,
): Promise<Waiting> {
  const counts = await Promise.all(ATTENTION_KINDS.map(async (kind) => {
    const { orders } = await ledger.orders.page({
      attention: kind,
      stuckAtMs: nowMs,
      limit: COUNTED + 1,
    });
    return { kind, count: orders.length };
  }));
  return counts.filter(({ count }) => count > 0);
}

/**
 * How much a finding matters.
 *
 * - `problem`: it does not work, which is an alarm while `serve` sees it.
 * - `warning`: it works, and a person should know; some are alarms as well.
 * - `fine`: it is as it should be.
 * - `skipped`: it could not be looked at, or is not used.
 */
export type HealthLevel = "problem" | "warning" | "fine" | "skipped";

/** What a condition means, and what to do about it. */
interface Condition {
  readonly subject: Subject;
  readonly level: HealthLevel;
  /** What is seen, in one sentence that figures may complete. */
  readonly means: string;
  /** What to do, unless the figures decide it. */
  readonly next?: string;
  /** Whether it is an alarm. @default {where it is a problem} */
  readonly isAlarm?: true;
  /** How long it has to stand before it is one, ms. @default {two looks} */
  readonly alarmAfterMs?: number;
}

export const row = (
  subject: Subject,
  level: HealthLevel,
  means: string,
  next?: string,
): Condition => ({
  subject,
  level,
  means,
  ...(next !== undefined && { next }),
});

/** A warning that is an alarm as well. */
const alarming = (
  condition: Condition,
  alarmAfterMs?: number,
): Condition => ({
  ...condition,
  isAlarm: true,
  ...(alarmAfterMs !== undefined && { alarmAfterMs }),
});

/** What to do where webhooks may be off. */
export const PRESS_TEST: string =
  "Press Test on the webhook page of the service's dashboard " +
  "first: when nothing comes, delivery is off. Enable it there, then: " +
  "rampkit recover --from WHEN-IT-BEGAN";

const MAKE_BACKUPS = "rampkit serve --backup-to DIR makes them; for a folder " +
  "that is elsewhere, pass rampkit doctor --backup-to DIR";

const SEE_WHY = "The message says why; run rampkit doctor";

const START_POLLER = "Start `serve` with an API key, or: rampkit poll --once";

/**
 * Everything that a look can find. Doctor, console, alarms, `/readyz`,
 * `/v1/status` and the metrics show these and no others, and
 * docs/reference/health.md prints those that stand.
 */
export const CONDITIONS = {
  not_looked_at: row(
    "storing",
    "warning",
    "It cannot be checked",
    "Run rampkit doctor",
  ),

  api_key_set: row("api_key", "fine", "It is set"),
  api_key_missing: row(
    "api_key",
    "problem",
    "There is none: nothing can be confirmed, and lost webhooks are not found",
    "Set RAMPKIT_API_KEY to the key that the service gave you",
  ),
  webhook_secret_set: row("webhook_secret", "fine", "It is set"),
  webhook_secret_missing: row(
    "webhook_secret",
    "warning",
    "There is none here, so this machine cannot run the endpoint",
    "Set RAMPKIT_WEBHOOK_SECRET, for example from: openssl rand -hex 24",
  ),
  webhook_secret_short: row(
    "webhook_secret",
    "warning",
    "One is short enough to be guessed",
    "Use a longer one: openssl rand -hex 24",
  ),

  serve_running: row("serve", "fine", "It has the ledger's file open"),
  serve_not_running: row(
    "serve",
    "warning",
    "No serve has the ledger's file open on this machine, and no poller runs",
    "Start `serve`",
  ),
  serve_died: row(
    "serve",
    "problem",
    "serve, or the program in its place, has ended without being stopped: nothing takes deliveries on this machine",
    "Start it again, and look in its log and the system's for why it ended; where the ledger is served from elsewhere now, remove the file beside it whose name ends in -use.json",
  ),
  ledger_replaced: row(
    "serve",
    "problem",
    "The running serve works on another file: the ledger's was removed or replaced, and deliveries wait in the spool",
    "Stop serve, put the ledger in its place with rampkit ledger restore, then start serve again",
  ),

  spool_empty: row("spool", "fine", "No process left deliveries in a file"),
  spool_unused: row("spool", "fine", "None: the ledger has deliveries at once"),
  spool_unreadable: row(
    "spool",
    "problem",
    "Its folder cannot be read",
    "Let the user that runs serve read and write it",
  ),
  spool_damaged: row(
    "spool",
    "problem",
    "Damaged files: deliveries that were answered may be lost",
    "Read the service again over that time with rampkit recover, then move what ends in .damaged elsewhere",
  ),
  spool_left: row(
    "spool",
    "warning",
    "A process that ended has left deliveries in files",
    "serve takes them into the ledger; start it",
  ),
  spool_nearly_full: row(
    "spool",
    "problem",
    "The spool is three quarters full: only deliveries of at most 8 KiB are taken, larger ones are answered 503",
    "Run rampkit doctor to see why the ledger does not take them",
  ),
  large_bodies_refused: row(
    "spool",
    "problem",
    "Bodies above 64 KiB are answered 503: they have used up their share of the spool. The service's own have about 1 KiB",
    "Somebody else may know the webhook address: change the secret, and limit the senders with `rampkit serve --allow`",
  ),

  nothing_waiting: row(
    "waiting",
    "fine",
    "The ledger has every answered delivery",
  ),
  deliveries_moving: row(
    "waiting",
    "fine",
    "Answered deliveries are on their way into the ledger",
  ),
  deliveries_left: row(
    "waiting",
    "warning",
    "Answered deliveries wait in the files of a process that ended",
    "Check that `serve` runs: it takes them into the ledger",
  ),
  deliveries_waiting: row(
    "waiting",
    "problem",
    "Answered deliveries wait to go into the ledger",
    "Nothing is lost: check that `rampkit serve` runs, and run rampkit doctor",
  ),

  ledger_writable: row("storing", "fine", "It can be written to"),
  ledger_missing: row(
    "place",
    "warning",
    "There is none yet",
    "rampkit serve makes it; for another one set RAMPKIT_DATABASE_URL",
  ),
  ledger_not_made: row(
    "place",
    "problem",
    "There is none yet, and none can be made there",
    "Give the user of serve the right to write the folder, or set RAMPKIT_DATABASE_URL to a file elsewhere",
  ),
  ledger_not_opened: row(
    "place",
    "problem",
    "It cannot be opened",
    "The message says why",
  ),
  ledger_refuses: row(
    "storing",
    "problem",
    "The ledger takes no writes, deliveries wait in the spool",
    SEE_WHY,
  ),
  deliveries_refused: row(
    "storing",
    "problem",
    "Nothing durable takes deliveries: they are answered 503, and the service will switch webhooks off",
    SEE_WHY,
  ),

  disk_has_room: row("disk", "fine", "There is room"),
  disk_nearly_full: row(
    "disk",
    "problem",
    "Little is left of the disk that the ledger is on",
    "Make room; remove old backups from the machine after copying them elsewhere",
  ),

  disk_full: row(
    "disk",
    "problem",
    "The disk that the ledger is on is full: the ledger takes no writes",
    "Make room: what was answered 204 is kept, and goes into the ledger by itself",
  ),

  pages_intact: row("database", "fine", "Its pages are intact"),
  database_thread_missing: row(
    "database",
    "warning",
    NO_THREAD_MEANS,
    NO_THREAD_ADVICE,
  ),
  pages_unseen: row("database", "skipped", "Its server looks after it"),
  pages_damaged: row(
    "database",
    "problem",
    "Its pages are damaged",
    "Restore the last backup that verifies",
  ),

  events_folded: row("projection", "fine", "Events are folded"),
  folding_behind: row(
    "projection",
    "warning",
    "Many events wait to be folded",
    "Check that `serve` runs, in this version; commands that read catch up as well",
  ),
  events_not_folded: row(
    "projection",
    "problem",
    "Stored events are not folded into states: orders look older than they are",
    "Nothing is lost: the log of `rampkit serve` says why, as projection_failing",
  ),
  fold_newer: row(
    "projection",
    "problem",
    "A newer version has folded the ledger: this one folds nothing",
    "Finish the upgrade: run every process in the newer version",
  ),

  chain_whole: row("evidence", "fine", "The chain is whole"),
  chain_broken: row(
    "evidence",
    "problem",
    "The evidence chain does not contain its anchored head",
    "Somebody changed the ledger, or an older copy of it is in its place: change nothing, keep a copy, and run rampkit ledger verify; docs/reference/health.md says how to go on",
  ),

  assets_known: row(
    "assets",
    "fine",
    "Every asset of the latest orders is in the table",
  ),
  assets_unknown: row(
    "assets",
    "warning",
    "Not in the table",
    "Amounts of these are compared digit by digit; a newer version may know them",
  ),

  delivery_works: row("delivery", "fine", "Webhooks come"),
  delivery_unused: row(
    "delivery",
    "skipped",
    "No webhook of an order or user that the service has shown was received yet",
  ),
  delivery_never_worked: row(
    "delivery",
    "warning",
    "Orders move, and no webhook of an order or user that the service has shown ever came: webhooks are not used here, or they never worked",
    "Where webhooks are meant to come, set the endpoint's address in the service's dashboard and press Test there",
  ),
  delivery_suspected: row(
    "delivery",
    "problem",
    "Orders move at the service and no webhook comes any more",
    PRESS_TEST,
  ),
  delivery_failing: row(
    "delivery",
    "problem",
    "Webhooks come and are not answered in time",
    PRESS_TEST,
  ),
  last_webhook: row("freshness", "fine", "Last webhook"),

  requests_taken: row(
    "refusals",
    "fine",
    "The endpoint refused no request in the last day",
  ),
  requests_refused: row(
    "refusals",
    "warning",
    "The endpoint refused requests in the last day",
  ),
  strangers_refused: row(
    "refusals",
    "fine",
    "The endpoint refused requests of strangers in the last day",
  ),

  service_as_described: row(
    "drift",
    "fine",
    "Answers and webhooks of the last day contain only what is described",
  ),
  drift_not_looked_for: row(
    "drift",
    "skipped",
    "No serve has looked yet whether the service has changed",
  ),
  answers_drifted: alarming(row(
    "drift",
    "warning",
    "Answers of the service contain something that its description does not",
    "Run rampkit conform: it says what differs and what is at risk",
  )),
  webhooks_drifted: row(
    "drift",
    "warning",
    "Webhooks contain something that the service's description does not",
    "See them with rampkit deliveries list. If the service sent them it has changed: run rampkit conform; else somebody knows the webhook address",
  ),

  endpoint_answers: row("endpoint", "fine", "It answers at its public address"),
  endpoint_unknown: row(
    "endpoint",
    "skipped",
    "Its public address is not known",
    "Set RAMPKIT_PUBLIC_URL, for example https://YOUR-HOST",
  ),
  endpoint_secret_named: row(
    "endpoint",
    "problem",
    "RAMPKIT_PUBLIC_URL holds the path of the webhooks",
    "Set it to what comes before /webhooks/ only: the rest is a secret",
  ),
  endpoint_wrong: row(
    "endpoint",
    "problem",
    "Something else answers at its public address",
    "Check that this endpoint is what answers there",
  ),
  endpoint_unreachable: row(
    "endpoint",
    "problem",
    "Its public address does not answer",
    "The service cannot reach it either: check address, proxy and firewall",
  ),

  polling_works: row("polling", "fine", "The service answers"),
  polling_not_begun: row(
    "polling",
    "warning",
    "The service has not been read yet",
    START_POLLER,
  ),
  polling_idle: row("polling", "warning", "No poller runs", START_POLLER),
  cron_silent: row(
    "polling",
    "problem",
    "No cron has run for five minutes: nothing is confirmed, and lost webhooks are not found",
    "See in the deployment whether the cron rampkit-poll is listed and fails: its entry file has to export what @rampkit/onramp/deploy does, at the top level; or poll elsewhere with rampkit poll",
  ),
  poll_clock_set_back: row(
    "polling",
    "warning",
    "The last answer of the service lies in the future: a clock was set back",
    "Look again in a minute",
  ),
  poll_failing: row(
    "polling",
    "problem",
    "Polling fails, so nothing is confirmed",
  ),
  poll_stalled: row(
    "polling",
    "problem",
    "The poller has made no progress for minutes, so nothing is confirmed",
    "Look for a clock that was set back or a hanging database, and restart `serve`",
  ),

  nothing_to_confirm: row(
    "backlog",
    "fine",
    "Nothing waits too long to be confirmed",
  ),
  confirmations_waiting: alarming(row(
    "backlog",
    "warning",
    "What webhooks claim waits too long to be confirmed",
    "Check that `serve` or `poll` runs, and that its --rate is high enough",
  )),
  ids_taken: row("refused_ids", "fine", "The service refuses no id"),
  ids_refused: row(
    "refused_ids",
    "warning",
    "The service refuses ids, which are set aside",
    "They are requested again at growing intervals; if they are your orders, tell the service's support",
  ),

  orders_settled: row("orders", "fine", "No order waits for a person"),
  orders_waiting: alarming(row(
    "orders",
    "warning",
    "Orders wait for a person",
    "See them, and what to do about each: rampkit attention",
  )),

  orders_checked: row(
    "comparison",
    "fine",
    "No success is unchecked because nothing was ever recorded",
  ),
  released_unchecked: alarming(row(
    "comparison",
    "warning",
    "Orders are released unchecked: nothing was ever recorded to compare them with",
    "Record what you ask for before the customer pays, with ledger.recordSession(), ledger.expect() or POST /v1/sessions; until then compare amount, asset and address yourself before you release",
  )),

  nodes_answer: row("nodes", "fine", "They answer, and keep up"),
  nodes_unused: row("nodes", "skipped", "No chain node is configured"),
  nodes_not_asked: row(
    "nodes",
    "problem",
    "Releases wait for the chain, and no process asks the nodes",
    "Start `serve` with RAMPKIT_CHAINS, or let releases no longer wait: RAMPKIT_REQUIRE_WITNESS=off",
  ),
  node_silent: alarming(row(
    "nodes",
    "warning",
    "A chain node does not answer",
    "Check that it runs and can be reached from here; without a quorum no transaction of its network is decided",
  )),
  node_refuses: alarming(row(
    "nodes",
    "warning",
    "A chain node refuses requests",
    "Check its key, and how many requests it allows",
  )),
  node_unusable: alarming(row(
    "nodes",
    "warning",
    "A chain node gives answers that cannot be used",
    "Check that it is of the kind that the file of nodes names, and allows what docs/integrate.md names",
  )),
  node_of_other_chain: row(
    "nodes",
    "problem",
    "A chain node serves another chain",
    "Correct its address in the file of nodes",
  ),
  node_behind: alarming(row(
    "nodes",
    "warning",
    "A chain node is behind its chain",
    "Let it catch up; until then nothing that it says against an order counts",
  )),
  node_forgets: alarming(row(
    "nodes",
    "warning",
    "A chain node cannot find older transactions",
    "Give it an index of transactions (txindex=1 in Bitcoin Core), and let it prune less",
  )),
  node_disagrees: row(
    "nodes",
    "problem",
    "A chain node says something else than the others",
    "Compare it with a node of somebody else: it is on a fork, or it is not to be trusted. Take it out of the file of nodes until you know",
  ),

  receiver_works: row(
    "forwarding",
    "fine",
    "It has received what it subscribed to",
  ),
  receivers_none: row(
    "forwarding",
    "skipped",
    "Nothing is forwarded, and nothing subscribed",
  ),
  receiver_failing: alarming(
    row(
      "forwarding",
      "warning",
      "A receiver fails; its transitions are retried for three days",
      "Fix the receiver; the message names its last error",
    ),
    // One attempt may fail, and the second follows after seconds.
    5 * 60_000,
  ),
  receiver_idle: row(
    "forwarding",
    "warning",
    "Transitions wait for a receiver, and no process delivers to it",
    "Start what delivers to it: `serve` with --forward-to, or your program; if it is no longer used, drop it with rampkit subscriptions drop",
  ),
  receiver_off: row("forwarding", "problem", "A target is switched off"),
  dead_letters: row(
    "forwarding",
    "problem",
    "Transitions failed permanently after all attempts",
  ),

  backups_made: row("backups", "fine", "The newest backup is young enough"),
  backups_elsewhere: row(
    "backups",
    "skipped",
    "The ledger's server looks after them",
  ),
  backups_unknown: row(
    "backups",
    "skipped",
    "No folder of backups is beside the ledger",
    MAKE_BACKUPS,
  ),
  backups_none: row("backups", "warning", "There is none yet", MAKE_BACKUPS),
  backup_doubtful: row(
    "backups",
    "warning",
    "The newest backup is empty, or dated ahead of this clock",
    "Verify it: rampkit ledger verify --database-url file:COPY",
  ),
  backup_old: alarming(row(
    "backups",
    "warning",
    "The newest backup is too old",
    "Check that serve runs with --backup-to; backup_failing in its log says why no backup is made",
  )),
  backups_unreadable: row(
    "backups",
    "problem",
    "Their folder cannot be read",
    "Let the user that runs serve read and write it",
  ),
  backup_failing: row(
    "backups",
    "problem",
    "No backup can be made, or its copy does not verify",
    "The log of `rampkit serve` says why, as backup_failing",
  ),

  service_answers: row("service", "fine", "It takes the key"),
  service_not_asked: row(
    "service",
    "skipped",
    "It cannot be asked without a key",
  ),
  base_url_loopback: row(
    "service",
    "warning",
    "Production is read from an address of this machine: what is sold is confirmed by whatever answers there",
    "Take RAMPKIT_BASE_URL out, unless a proxy of yours to the service listens there",
  ),
  service_failing: row("service", "problem", "It does not answer as it should"),
  clock_right: row("clock", "fine", "It agrees with the service's"),
  clock_off: row(
    "clock",
    "warning",
    "It differs from the service's",
    "Let the machine keep its time by NTP",
  ),
  clock_wrong: row(
    "clock",
    "problem",
    "It differs so much from the service's that stated times are not trusted",
    "Let the machine keep its time by NTP",
  ),
} as const satisfies Readonly<Record<string, Condition>>;

/** What a look found, as a word. */
export type ConditionCode = keyof typeof CONDITIONS;

/** Conditions that stand, in the order of the table. */
export const STANDING_CODES: readonly ConditionCode[] =
  (Object.keys(CONDITIONS) as ConditionCode[]).filter((code) =>
    CONDITIONS[code].level === "problem" || CONDITIONS[code].level === "warning"
  );

/** What raises an alarm, in the order of the table. */
export const ALARM_CODES: readonly ConditionCode[] = STANDING_CODES.filter(
  (code) => {
    const { level, subject, isAlarm } = CONDITIONS[code];
    return (level === "problem" || isAlarm === true) &&
      SUBJECTS[subject].byDoctorAlone !== true;
  },
);
