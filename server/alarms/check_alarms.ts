import type { Ledger } from "../../ledger/mod.ts";
import { readPollHealth, watchdog } from "../../sync/mod.ts";
import { countConfirms, isPolled } from "../../ledger/for_sync.ts";
import { readWaiting, uncheckedSince } from "../../ledger/for_resources.ts";
import type { WebhookEndpointStats } from "../../webhooks/mod.ts";
import type { Readiness } from "../http/http_app.ts";
import type {
  AlarmArea,
  AlarmCheck,
  AlarmCode,
  StandingAlarm,
} from "../../resources/health/standing_alarm.ts";

/** What is looked at. */
export interface AlarmSources {
  /** The ledger. */
  readonly ledger: Pick<Ledger, "driver">;
  /** Whether deliveries can be stored, and how polling is. */
  readonly readiness: () => Promise<Readiness>;
  /** Whether a poller is at work. @default {by its lease} */
  readonly polled?: () => Promise<boolean>;
  /** Since when stored events are not folded; null while they are. */
  readonly foldFailingSince: () => string | null;
  /** Whether the chain does not go on from its anchored head; null before it was
   * looked at. */
  readonly chainBroken: () => boolean | null;
  /** Since when bodies are refused for their size alone. */
  readonly refusing: () => WebhookEndpointStats["refusing"];
  /** Bytes left on the disk of the ledger; null where it has none here. */
  readonly freeBytes: () => Promise<number | null>;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/** An answered delivery is in the ledger within seconds. */
const WAITING_MS = 60_000;
/** A poller that works says so every half a minute. */
const POLLED_MS = 120_000;
/** What webhooks named is asked about within seconds, or minutes in a rush. */
const CONFIRM_MS = 15 * 60_000;
/** Less than this is nearly nothing: a day of deliveries at a small shop. */
export const LOW_DISK_BYTES: number = 256 * 1024 * 1024;

/**
 * Looks once at everything that has an alarm. Never rejects: an area that
 * cannot be looked at is left out, and the ledger's failure is an alarm itself.
 */
export async function checkAlarms(sources: AlarmSources): Promise<AlarmCheck> {
  const nowMs = sources.now();
  const look = new Map<AlarmArea, StandingAlarm | null>();
  const readiness = await sources.readiness().catch(() => null);
  const areas: readonly [
    AlarmArea,
    () => Found | Promise<Found>,
  ][] = [
    ["delivery", () => delivery(sources, nowMs)],
    ["polling", () => polling(sources, readiness, nowMs)],
    ["backlog", () => backlog(sources, nowMs)],
    ["disk", () => disk(sources, readiness, nowMs)],
    ["room", () => room(sources)],
    ["evidence", () => evidence(sources, nowMs)],
    ["comparison", () => comparison(sources)],
  ];
  for (const [area, see] of areas) {
    try {
      const found = await see();
      if (found !== undefined) look.set(area, found && { area, ...found });
    } catch {
      // What cannot be read is not known: the alarm stays as it is.
    }
  }
  return look;
}

/** What is wrong in an area; undefined where that is not known. */
type Found = Omit<StandingAlarm, "area"> | null | undefined;

async function delivery(
  { ledger, polled = () => isPolled(ledger.driver) }: AlarmSources,
  nowMs: number,
): Promise<Found> {
  // Only a poller sees orders move, and only it keeps how far was looked:
  // without one each look would read all events since.
  if (!await polled()) return undefined;
  const { health } = await watchdog(ledger.driver, { nowMs });
  const { state, countdown, silentOrders } = health;
  if (countdown === null || (state !== "suspected" && state !== "failing")) {
    return null;
  }
  return {
    code: `delivery_${state}`,
    since: countdown.firstFailureAt,
    facts: {
      silentOrders,
      offAtFromFirst: countdown.offAtFromFirst,
      offAtFromPrevious: countdown.offAtFromPrevious,
    },
  };
}

async function polling(
  { ledger }: AlarmSources,
  readiness: Readiness | null,
  nowMs: number,
): Promise<Found> {
  // Without a lag the ledger was not read, and neither was this.
  if (readiness === null) return undefined;
  const { polling: failure, lag } = readiness;
  if (failure === null) return lag === null ? undefined : null;
  const { sweep, attempts, since, cause, status } = failure;
  if (cause === "stalled") {
    // Of several processes another may have taken over.
    const { workedAt } = await readPollHealth(ledger.driver);
    const agoMs = nowMs - Date.parse(workedAt ?? "");
    if (agoMs >= 0 && agoMs < POLLED_MS) return null;
  }
  return {
    code: cause === "stalled" ? "poll_stalled" : "poll_failing",
    since,
    facts: { sweep, attempts, cause, status },
  };
}

async function backlog(
  { ledger: { driver }, foldFailingSince }: AlarmSources,
  nowMs: number,
): Promise<Found> {
  const failingSince = foldFailingSince();
  if (failingSince !== null) {
    return { code: "events_not_folded", since: failingSince, facts: {} };
  }
  const waiting = await readWaiting(driver, nowMs);
  if (waiting !== null && nowMs - waiting.oldestMs > WAITING_MS) {
    return {
      code: "deliveries_waiting",
      since: iso(waiting.oldestMs),
      facts: { waiting: waiting.count },
    };
  }
  const [rows] = await driver.batch([countConfirms], "read");
  // Rows of entities that the service has shown, as the first column says.
  const known = rows?.rows.find(([isKnown]) => isKnown === 1);
  const oldestAt = known?.[2];
  if (
    typeof oldestAt === "string" && nowMs - Date.parse(oldestAt) > CONFIRM_MS
  ) {
    return {
      code: "confirmations_waiting",
      since: iso(Date.parse(oldestAt)),
      facts: { waiting: Number(known?.[1]) },
    };
  }
  return null;
}

async function disk(
  { freeBytes }: AlarmSources,
  readiness: Readiness | null,
  nowMs: number,
): Promise<Found> {
  const found = (
    code: AlarmCode,
    facts: StandingAlarm["facts"],
  ) => ({ code, since: iso(nowMs), facts });
  if (readiness !== null && readiness.problem !== null) {
    return found("deliveries_refused", {});
  }
  if (readiness?.writable === false) {
    return found("ledger_refuses", { spooled: readiness.spooled });
  }
  const free = await freeBytes().catch(() => null);
  if (free !== null && free < LOW_DISK_BYTES) {
    return found("disk_nearly_full", { freeBytes: free });
  }
  return readiness === null ? undefined : null;
}

function room({ refusing }: AlarmSources): Found {
  const { large, allButSmall } = refusing();
  if (allButSmall !== null) {
    return { code: "spool_nearly_full", since: allButSmall, facts: {} };
  }
  return large === null
    ? null
    : { code: "large_bodies_refused", since: large, facts: {} };
}

function evidence({ chainBroken }: AlarmSources, nowMs: number): Found {
  const broken = chainBroken();
  if (broken === null) return undefined;
  return broken ? { code: "chain_broken", since: iso(nowMs), facts: {} } : null;
}

async function comparison({ ledger }: AlarmSources): Promise<Found> {
  const since = await uncheckedSince(ledger.driver);
  return since === null
    ? null
    : { code: "released_unchecked", since, facts: {} };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
