/** Events that hold an id of somebody erased and were not blanked, for a person. */
import type { EventKind } from "../machines/event_kind.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { listed, readDeciding, statement, write } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf } from "../store/events.ts";
import type { FindingReason, Holders } from "./holders.ts";
import { readFolded } from "./person.ts";
import { redactEvent } from "./redact.ts";
import { type ErasureParts, replaceEvents } from "./rewrite.ts";

/** An event that holds an id of an erased person and was not blanked. */
export interface ErasureFinding {
  /** Place of the event in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
  /** Kind of event. */
  readonly kind: EventKind;
  /**
   * - `other_person`: it is about somebody else whom the service has shown.
   * - `chosen_click_id`: it holds a click id that a customer may have chosen.
   * - `not_json`: its body is not JSON.
   */
  readonly why: FindingReason;
  /** When it was found, UTC ISO 8601. */
  readonly foundAt: string;
  /** What a person decided; null while nobody has. */
  readonly settled: "blanked" | "kept" | null;
}

/** How a finding is kept: in a row of its own, by its position. */
const NAME = "erasure_finding ";

/** Lists events, each once. */
export function addFindings(
  found: Holders["list"],
  foundAt: string,
): Statement[] {
  return found.map(({ position, why }) =>
    statement(
      `INSERT INTO cursors VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
      NAME + position,
      JSON.stringify({ why, settled: null }),
      Date.parse(foundAt),
    )
  );
}

/** Which of some positions are listed. */
export async function readListed(
  driver: Driver,
  positions: readonly number[],
): Promise<Set<number>> {
  const [rows] = await readDeciding(driver, [statement(
    "SELECT name FROM cursors WHERE name IN (SELECT value FROM json_each(?))",
    listed(positions.map((position) => NAME + position)),
  )]);
  return new Set(
    (rows ?? []).map(([name]) => Number(String(name).slice(NAME.length))),
  );
}

/** Reads what is listed, by position. */
export async function readFindings(driver: Driver): Promise<ErasureFinding[]> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT e.position, e.id, e.kind, c.value, c.updated_at FROM cursors AS c
      JOIN events AS e ON e.position = CAST(substr(c.name, ?2) AS INTEGER)
      WHERE c.name > ?1 AND c.name < ?1 || 'A' ORDER BY e.position`,
    NAME,
    NAME.length + 1,
  )]);
  return (rows ?? []).map(([position, eventId, kind, value, at]) => ({
    position: Number(position),
    eventId: String(eventId),
    kind: kind as EventKind,
    foundAt: new Date(Number(at)).toISOString(),
    ...JSON.parse(String(value)) as Pick<ErasureFinding, "why" | "settled">,
  }));
}

/** Blanks events that are listed, or acknowledges that they stay. */
export function settle(
  parts: ErasureParts,
  positions: readonly number[],
  how: "blank" | "keep",
): Promise<number> {
  const { driver, randomBytes } = parts;
  return retryLostRaces(async () => {
    const guard = await readFolded(parts, "erase");
    const open = (await readFindings(driver)).filter((one) =>
      one.settled === null && positions.includes(one.position) &&
      one.position <= guard.position
    ).map(({ position }) => position);
    const [rows] = await readDeciding(driver, [statement(
      `SELECT ${EVENT_COLUMNS} FROM events AS e
        WHERE e.position IN (SELECT value FROM json_each(?))`,
      listed(how === "blank" ? open : []),
    )]);
    const names = { userId: null, clickId: null };
    const replaced = eventsOf(rows).map((before) => ({
      before,
      after: redactEvent(before, { names, match: null, randomBytes }),
    }));
    await write(driver, [
      ...await replaceEvents(parts, { guard, replaced }),
      statement(
        `UPDATE cursors SET value = json_set(value, '$.settled', ?2)
          WHERE name IN (SELECT value FROM json_each(?1))`,
        listed(open.map((position) => NAME + position)),
        how === "blank" ? "blanked" : "kept",
      ),
    ]);
    return open.length;
  });
}
