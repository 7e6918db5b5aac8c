import { isRecord } from "../../core/guards.ts";
import { parseJson } from "../../core/json/parse_json.ts";
import {
  type Driver,
  readNewestBodies,
  readSweep,
  type Statement,
  type StoredBody,
  writeSweep,
} from "../../ledger/for_sync.ts";
import { namesInAnswer, namesInWebhook } from "./met_names.ts";

/** Name under which drift is kept. */
const DRIFT = "drift";

/** Something met that the description does not have. */
export interface DriftMet {
  /** How often, in what was looked at. */
  readonly count: number;
  /** When it was first noticed, UTC ISO 8601. */
  readonly since: string;
  /** When it was last noticed, UTC ISO 8601. */
  readonly lastAt: string;
}

/** Drift by name, as the ledger keeps it. */
export interface KeptDrift {
  /** Position up to which events were looked at. */
  readonly position: number;
  /** What was met, by name. */
  readonly names: Readonly<Record<string, DriftMet>>;
}

/** Names not met for this long are forgotten, in milliseconds. */
const FORGOTTEN_MS = 7 * 24 * 3_600_000;

/**
 * Names kept of answers, and as many of webhooks: anybody who knows the address
 * can send webhooks, and must not push out what the service's answers show.
 */
const MOST_NAMES = 30;

/** Whether a name is of webhooks, which anybody may send. */
export function isOfWebhooks(name: string): boolean {
  return name.startsWith("webhooks");
}

/**
 * Adds names that were met. A name beyond the bound is counted with the others
 * of its kind; one that was not met for a week is forgotten.
 *
 * @param before What is kept.
 * @param met The names, each as often as it was met.
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function withMet(
  before: KeptDrift["names"],
  met: readonly string[],
  nowMs: number,
): KeptDrift["names"] {
  const now = new Date(nowMs).toISOString();
  const names = new Map(
    Object.entries(before).filter(([, { lastAt }]) =>
      nowMs - Date.parse(lastAt) < FORGOTTEN_MS
    ),
  );
  for (const name of met) {
    const kept = names.has(name) || hasRoom([...names.keys()], name)
      ? name
      : isOfWebhooks(name)
      ? "webhooks: others"
      : "answers: others";
    const { count, since } = names.get(kept) ?? { count: 0, since: now };
    names.set(kept, { count: count + 1, since, lastAt: now });
  }
  return Object.fromEntries(names);
}

function hasRoom(names: readonly string[], name: string): boolean {
  const same = names.filter((one) => isOfWebhooks(one) === isOfWebhooks(name));
  return same.length < MOST_NAMES;
}

/**
 * Reads what was met that the description does not have.
 *
 * @param driver The ledger's database.
 * @throws {LedgerError} When the database fails.
 */
export async function readDrift(driver: Driver): Promise<KeptDrift | null> {
  return await readSweep<KeptDrift>(driver, DRIFT);
}

/**
 * Counts what an answer shows that is no part of a row.
 *
 * @param driver The ledger's database.
 * @param met Its names, each as often as it was met.
 * @param nowMs The time, in milliseconds since the epoch.
 * @returns What writes the count.
 * @throws {LedgerError} When the database fails.
 */
export async function countDrift(
  driver: Driver,
  met: readonly string[],
  nowMs: number,
): Promise<Statement> {
  const { position, names } = await readDrift(driver) ?? NOTHING;
  const after = { position, names: withMet(names, met, nowMs) };
  return writeSweep(DRIFT, after, nowMs);
}

const NOTHING: KeptDrift = { position: 0, names: {} };

/**
 * Events looked at in one look, the newest; a flood is not looked at
 * completely.
 */
const MOST_EVENTS = 200;

const decoder = new TextDecoder();

/**
 * Looks at what the ledger has got since the last look, and keeps by name what
 * is not as the description of the service has it.
 *
 * @param driver The ledger's database.
 * @param nowMs The time, in milliseconds since the epoch.
 * @returns All that is kept.
 * @throws {LedgerError} When the database fails.
 */
export async function lookForDrift(
  driver: Driver,
  nowMs: number,
): Promise<KeptDrift> {
  const before = await readDrift(driver) ?? NOTHING;
  const bodies = await readNewestBodies(driver, before.position, MOST_EVENTS);
  const [newest] = bodies;
  if (newest === undefined) return before;
  const after: KeptDrift = {
    position: newest.position,
    names: withMet(before.names, bodies.flatMap(namesIn), nowMs),
  };
  await driver.batch([writeSweep(DRIFT, after, nowMs)], "write");
  return after;
}

function namesIn({ kind, body }: StoredBody): string[] {
  if (body === null) return [];
  let value: unknown;
  try {
    value = parseJson(decoder.decode(body));
  } catch {
    // Counted as quarantined elsewhere.
    return [];
  }
  if (kind === "webhook") return namesInWebhook(value);
  if (!isRecord(value)) return [];
  if (kind === "order_snapshot") return namesInAnswer("order", value);
  return kind === "user_snapshot" ? namesInAnswer("user", value) : [];
}
