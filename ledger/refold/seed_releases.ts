import { ReleaseLoader } from "../projection/load_releases.ts";
import { decodeOrderFold } from "../projection/codec/fold_codec.ts";
import { purchaseStatements } from "../projection/batch_statements.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { logReleases } from "../releases/log_releases.ts";
import { orderRelease } from "../releases/order_release.ts";
import type { ReleaseChange } from "../releases/release_log.ts";
import type { Driver, ResultSet, Statement } from "../store/driver/driver.ts";
import type { Checkpoint } from "../store/tables/checkpoints.ts";
import { stampGoLive } from "../store/tables/go_live.ts";
import { selectRecordedAt } from "../store/tables/events/events.ts";
import {
  insertTransitions,
  selectMovedReleases,
} from "../store/tables/transitions.ts";

/** Transitions of one statement. */
const AT_ONCE = 5000;
/** Orders of one read. */
const PAGE = 2000;
/** The first version of the fold whose ledgers have a release log. */
const LOGS_RELEASES = 5;

/**
 * The statements that log, as not live, the release of each order that a new
 * version of the fold moves: afterwards the last entry of each order says what
 * its new state says. A `yes` that is sent to nobody this way, and one that is
 * withdrawn so, waits for a person. What is logged first of an order that had
 * ended before the ledger went live is historic; all is in a ledger whose
 * version had no release log, which goes live with it.
 *
 * @param live The live checkpoint.
 * @param next That of the new states, at the same position.
 * @param resolve How states are worked out.
 * @throws {LedgerError} `conflict` when the live checkpoint has moved.
 */
export async function seedReleases(
  driver: Driver,
  { live, next, resolve }: {
    readonly live: Checkpoint;
    readonly next: Checkpoint;
    readonly resolve: ResolveOptions;
  },
): Promise<Statement[]> {
  const changes: ReleaseChange[] = [];
  const historic = new Set<string>();
  const hadLog = live.foldVersion >= LOGS_RELEASES;
  const [last] = await driver.batch([selectRecordedAt(next.position)], "write");
  const recordedAt = last?.rows[0]?.[0] as string | undefined ?? "";
  for (let afterId: string | null = ""; afterId !== null;) {
    const page = { afterId, limit: PAGE };
    const [moved] = await driver.batch(
      [selectMovedReleases(next.generation, page)],
      "write",
    );
    const rows: ResultSet["rows"] = moved?.rows ?? [];
    for (const [id, fold, isLogged, isHistoric] of rows) {
      if (fold === null) continue;
      const now = orderRelease(decodeOrderFold(fold as string), resolve);
      if (now === null) continue;
      if (isLogged !== 1 && (!hadLog || isHistoric === 1)) {
        historic.add(id as string);
      }
      changes.push({
        orderId: id as string,
        isFirst: isLogged !== 1,
        now,
        position: next.position,
        recordedAt,
        live: false,
        historic: historic.has(id as string),
        byExpectation: false,
      });
    }
    const lastId = rows.at(-1)?.[0] as string | undefined;
    afterId = rows.length < PAGE ? null : lastId ?? null;
  }
  // What an older version has folded, it sent in its own way.
  const goLive = hadLog || recordedAt === "" ? [] : [stampGoLive(recordedAt)];
  if (changes.length === 0) return goLive;
  const known = await new ReleaseLoader(driver).load(changes, {
    mode: "write",
    from: live,
    catchUp: null,
  });
  const releases = logReleases(changes, known);
  const entries = releases.transitions.map((one) => {
    const isYes = one.logged?.release === "yes";
    const had = known.orders.get(one.id)?.entries.yes !== undefined;
    const withheld = one.withheld || (!one.historic && isYes !== had);
    return { ...one, withheld };
  });
  const statements = [...goLive, ...purchaseStatements(releases)];
  for (let from = 0; from < entries.length; from += AT_ONCE) {
    statements.push(insertTransitions(entries.slice(from, from + AT_ONCE)));
  }
  return statements;
}
