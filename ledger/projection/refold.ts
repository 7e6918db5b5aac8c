import type { Driver, Statement } from "../store/driver.ts";
import { LedgerError } from "../store/errors.ts";
import {
  type Checkpoint,
  type Checkpoints,
  checkpointsOf,
  createCheckpoint,
  moveCheckpoint,
  selectCheckpoints,
} from "./checkpoint.ts";
import { compareGenerations, type StateChange } from "./compare_generations.ts";
import { deleteOldGenerations } from "./old_generations.ts";
import type { Projector } from "./projector.ts";

/** How to fold a ledger again from nothing. */
export interface RefoldOptions {
  /**
   * Only says which states would change, and changes nothing that is read.
   *
   * @default false
   */
  readonly dryRun?: boolean;
  /**
   * Changes that are listed with their fields; beyond it they are counted.
   *
   * @default 1000
   */
  readonly maxChanges?: number;
  /** Stops between two steps; a refold then goes on where it stopped. */
  readonly signal?: AbortSignal;
  /** Told after each step. */
  readonly onProgress?: (progress: {
    /** Position reached. */
    readonly position: number;
    /** Position to reach. */
    readonly of: number;
    /** Events folded by this call. */
    readonly events: number;
  }) => void;
}

/** What a refold came to. */
export interface Refold {
  /** Events folded by this call. */
  readonly events: number;
  /** Position up to which events were folded. */
  readonly position: number;
  /** Orders and users whose state changed, or would change. */
  readonly changed: number;
  /** The first of them, with the difference. */
  readonly changes: readonly StateChange[];
  /** Whether the new states are the ones that readers see now. */
  readonly swapped: boolean;
}

/** A refold, and whether to find out what it changes. */
export interface ComparingRefoldOptions extends RefoldOptions {
  /** Whether to compare the new states with the old. */
  readonly compare: boolean;
}

/** Another process has finished or dropped what this one was building. */
class Overtaken extends Error {}

/**
 * Folds every event again beside the states that readers see, and puts the new
 * states in their place in one moment. A kill loses nothing: the next call
 * goes on from the checkpoint of the half-built states.
 *
 * @param projector The fold.
 * @param driver The database.
 * @param options How; see {@linkcode RefoldOptions}.
 * @returns Null when another process was done first.
 * @throws {LedgerError} `failed` when a newer version has folded the ledger.
 */
export async function refold(
  projector: Projector,
  driver: Driver,
  options: ComparingRefoldOptions,
): Promise<Refold | null> {
  try {
    return await build(projector, driver, options);
  } catch (error) {
    if (error instanceof Overtaken) return null;
    throw error;
  }
}

async function build(
  projector: Projector,
  driver: Driver,
  options: ComparingRefoldOptions,
): Promise<Refold> {
  const lane = options.dryRun ? "trial" : "next";
  let folded = 0;
  await begin(projector, driver, lane);
  for (;;) {
    folded += await catchUp(projector, lane, options, folded);
    const compared = options.compare
      ? await compare(projector, driver, lane, options)
      : { changed: 0, changes: [] };
    const { live, [lane]: built } = await readCheckpoints(driver);
    if (live === null || built === null) throw new Overtaken();
    const result = { ...compared, events: folded, position: built.position };
    if (options.dryRun) {
      await driver.batch([dropLane(lane, built)], "write");
      await deleteOldGenerations(driver, options.signal);
      return { ...result, swapped: false };
    }
    if (live.position === built.position && await swap(driver, live, built)) {
      await projector.forget();
      await deleteOldGenerations(driver, options.signal);
      return { ...result, swapped: true };
    }
  }
}

/** Creates the lane, or takes up what was begun by the same version. */
async function begin(
  projector: Projector,
  driver: Driver,
  lane: "next" | "trial",
): Promise<void> {
  const checkpoints = await readCheckpoints(driver);
  const { live, [lane]: begun } = checkpoints;
  const newest = Math.max(live?.foldVersion ?? 0, begun?.foldVersion ?? 0);
  if (newest > projector.foldVersion) throw newerFold(newest, projector);
  const statements: Statement[] = [];
  const stale = begun !== null &&
    (lane === "trial" || begun.foldVersion !== projector.foldVersion ||
      begun.position > (live?.position ?? 0));
  if (live === null) {
    statements.push(createCheckpoint("live", projector.foldVersion));
  }
  if (stale) statements.push(dropLane(lane, begun));
  if (stale || begun === null) {
    statements.push(createCheckpoint(lane, projector.foldVersion));
  }
  if (statements.length > 0) await driver.batch(statements, "write");
}

/** Folds until the lane is where the live states are. */
async function catchUp(
  projector: Projector,
  lane: "next" | "trial",
  options: RefoldOptions,
  before: number,
): Promise<number> {
  let events = 0;
  for (;;) {
    options.signal?.throwIfAborted();
    const step = await projector.step(lane);
    const { live, [lane]: built } = step.checkpoints;
    if (built === null || live === null) throw new Overtaken();
    if (built.foldVersion !== projector.foldVersion) {
      throw newerFold(built.foldVersion, projector);
    }
    events += step.events;
    options.onProgress?.({
      position: step.position,
      of: live.position,
      events: before + events,
    });
    if (step.events === 0) return events;
  }
}

/** Compares page by page, each at a moment at which both are equally far. */
async function compare(
  projector: Projector,
  driver: Driver,
  lane: "next" | "trial",
  options: RefoldOptions,
): Promise<Pick<Refold, "changed" | "changes">> {
  const { maxChanges = 1000, signal } = options;
  const changes: StateChange[] = [];
  let changed = 0;
  for (const entity of ["order", "user"] as const) {
    for (let afterId: string | null = ""; afterId !== null;) {
      signal?.throwIfAborted();
      const { live, [lane]: built } = await readCheckpoints(driver);
      if (live === null || built === null) throw new Overtaken();
      const page = await compareGenerations(driver, {
        entity,
        before: live.generation,
        after: built.generation,
        afterId,
      });
      const { live: liveNow, [lane]: builtNow } = page.checkpoints;
      if (
        liveNow?.position !== builtNow?.position ||
        liveNow?.generation !== live.generation ||
        builtNow?.generation !== built.generation
      ) {
        await catchUp(projector, lane, { ...(signal && { signal }) }, 0);
        continue;
      }
      changed += page.changes.length;
      changes.push(...page.changes.slice(0, maxChanges - changes.length));
      afterId = page.last;
    }
  }
  return { changed, changes };
}

/** False when somebody moved a checkpoint: then there is more to fold. */
async function swap(
  driver: Driver,
  live: Checkpoint,
  next: Checkpoint,
): Promise<boolean> {
  try {
    await driver.batch([
      moveCheckpoint("live", live, live.position),
      moveCheckpoint("next", next, next.position),
      {
        sql: `UPDATE projections SET generation = ?, fold_version = ?
          WHERE name = 'live'`,
        args: [next.generation, next.foldVersion],
      },
      dropLane("next", next),
    ], "write");
    return true;
  } catch (error) {
    if (error instanceof LedgerError && error.code === "constraint") {
      return false;
    }
    throw error;
  }
}

async function readCheckpoints(driver: Driver): Promise<Checkpoints> {
  // From the primary, because what a replica says may be overtaken already.
  const [rows] = await driver.batch([selectCheckpoints], "write");
  return checkpointsOf(rows);
}

function dropLane(
  lane: "next" | "trial",
  { generation }: Checkpoint,
): Statement {
  return {
    sql: "DELETE FROM projections WHERE name = ? AND generation = ?",
    args: [lane, generation],
  };
}

function newerFold(version: number, projector: Projector): LedgerError {
  return new LedgerError(
    "failed",
    `A newer version has folded the ledger: fold ${version}, and this one ` +
      `knows ${projector.foldVersion}; update the package`,
  );
}
