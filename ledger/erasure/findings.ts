import type { EventKind } from "../machines/event_kind.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import {
  checkpointsOf,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import {
  erasableEvents,
  selectErasableAt,
} from "../store/tables/erasure/erasable_events.ts";
import {
  type FindingReason,
  selectFindings,
  settleFindings,
} from "../store/tables/erasure/erased_values.ts";
import { blanking } from "./compare_events.ts";
import type { ErasureParts } from "./erasure_parts.ts";

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

/** Reads what is listed, by position. */
export async function readFindings(driver: Driver): Promise<ErasureFinding[]> {
  const [rows] = await readPrimary(driver, [selectFindings]);
  return rows?.rows.map(([position, why, foundAt, settled, eventId, kind]) => ({
    position: Number(position),
    eventId: String(eventId),
    kind: kind as EventKind,
    why: why as FindingReason,
    foundAt: String(foundAt),
    settled: settled as ErasureFinding["settled"],
  })) ?? [];
}

/** Blanks events that are listed, or acknowledges that they stay. */
export function settle(
  parts: ErasureParts,
  positions: readonly number[],
  how: "blank" | "keep",
): Promise<number> {
  const { driver, now } = parts;
  return retryLostRaces(async () => {
    const listed = (await readFindings(driver))
      .filter(({ position, settled }) =>
        settled === null && positions.includes(position)
      ).map(({ position }) => position);
    const at = new Date(now()).toISOString();
    const [checkpoints, rows] = await readPrimary(driver, [
      selectCheckpoints,
      selectErasableAt(how === "blank" ? listed : []),
    ]);
    const { live } = checkpointsOf(checkpoints);
    if (live === null || listed.some((position) => position > live.position)) {
      throw new LedgerError(
        "failed",
        "Cannot blank an event that is not folded: fold it first, with " +
          "ledger.project()",
      );
    }
    await driver.batch([
      ...await blanking(
        parts,
        erasableEvents(rows).filter(({ event }) => event.body !== null),
        live,
      ),
      settleFindings(listed, how === "blank" ? "blanked" : "kept", at),
    ], "write");
    return listed.length;
  });
}
