import { parseJson } from "../../core/json/parse_json.ts";
import { isRecord } from "../../core/guards.ts";
import {
  type Driver,
  readNewestBodies,
  type StoredBody,
  writeSweep,
} from "../../ledger/for_sync.ts";
import { DRIFT, type KeptDrift, readDrift, withMet } from "./kept_drift.ts";
import { namesInAnswer, namesInWebhook } from "./met_names.ts";

/** Events looked at in one look, the newest; a flood is not looked at whole. */
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
  const before = await readDrift(driver) ?? { position: 0, names: {} };
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
