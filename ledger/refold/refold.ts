import type { Driver, Statement } from "../store/driver/driver.ts";
import { requeueOpenOrders } from "../store/tables/polling/request_queues.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { ENTITIES } from "../machines/transition.ts";
import {
  type Checkpoint,
  type Checkpoints,
  checkpointsOf,
  createCheckpoint,
  deleteCheckpoint,
  expectCheckpoint,
  makeLive,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { compareGenerations, type StateChange } from "./compare_generations.ts";
import { isLostRace } from "../store/driver/retrying_driver.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { seedReleases } from "./seed_releases.ts";
import type { Projector } from "../projection/projector.ts";
import {
  deleteSomeOf,
  type GenerationTable,
  generationTables,
  selectGenerations,
} from "../store/tables/generations.ts";

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
  /** Called after each step. */
  readonly onProgress?: (progress: {
    /** Position reached. */
    readonly position: number;
    /** Position to reach. */
    readonly of: number;
    /** Events folded by this call. */
    readonly events: number;
  }) => void;
}

/** What folding every event again changed, or would change. */
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

/** Another process has finished or dropped the states that this one builds. */
class Overtaken extends Error {}

/**
 * Folds every event again beside the states that readers see, and puts the new
 * states in their place in one moment. A kill loses nothing: the next call
 * goes on from the checkpoint of the half-built states.
 *
 * @param projector The fold.
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
  const slot = options.dryRun ? "trial" : "next";
  let folded = 0;
  await begin(projector, driver, slot);
  for (;;) {
    folded += await catchUp(projector, slot, options, folded);
    const compared = options.compare
      ? await compare(projector, driver, slot, options)
      : { changed: 0, changes: [] };
    const { live, [slot]: built } = await readCheckpoints(driver);
    if (live === null || built === null) throw new Overtaken();
    const result = { ...compared, events: folded, position: built.position };
    if (options.dryRun) {
      await driver.batch([deleteCheckpoint(slot, built)], "write");
      await deleteOldGenerations(driver, options.signal);
      return { ...result, swapped: false };
    }
    if (
      live.position === built.position &&
      await swap(driver, live, built, projector.resolve)
    ) {
      await projector.forget();
      await deleteOldGenerations(driver, options.signal);
      return { ...result, swapped: true };
    }
  }
}

/** Creates the slot, or goes on with one that the same version began. */
async function begin(
  projector: Projector,
  driver: Driver,
  slot: "next" | "trial",
): Promise<void> {
  const checkpoints = await readCheckpoints(driver);
  const { live, [slot]: begun } = checkpoints;
  const newest = Math.max(live?.foldVersion ?? 0, begun?.foldVersion ?? 0);
  if (newest > projector.foldVersion) throw newerFold(newest, projector);
  const statements: Statement[] = [];
  const stale = begun !== null &&
    (slot === "trial" || begun.foldVersion !== projector.foldVersion ||
      begun.position > (live?.position ?? 0));
  if (live === null) {
    statements.push(createCheckpoint("live", projector.foldVersion));
  }
  if (stale) statements.push(deleteCheckpoint(slot, begun));
  if (stale || begun === null) {
    statements.push(createCheckpoint(slot, projector.foldVersion));
  }
  if (statements.length > 0) await driver.batch(statements, "write");
}

/** Folds until the slot is where the live states are. */
async function catchUp(
  projector: Projector,
  slot: "next" | "trial",
  options: RefoldOptions,
  before: number,
): Promise<number> {
  let events = 0;
  for (;;) {
    options.signal?.throwIfAborted();
    const step = await projector.step(slot);
    const { live, [slot]: built } = step.checkpoints;
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

/** Compares page by page, each page while both slots have the same position. */
async function compare(
  projector: Projector,
  driver: Driver,
  slot: "next" | "trial",
  options: RefoldOptions,
): Promise<Pick<Refold, "changed" | "changes">> {
  const { maxChanges = 1000, signal } = options;
  const changes: StateChange[] = [];
  let changed = 0;
  for (const entity of ENTITIES) {
    for (let afterId: string | null = ""; afterId !== null;) {
      signal?.throwIfAborted();
      const { live, [slot]: built } = await readCheckpoints(driver);
      if (live === null || built === null) throw new Overtaken();
      const page = await compareGenerations(driver, {
        entity,
        before: live.generation,
        after: built.generation,
        afterId,
      });
      const { live: liveNow, [slot]: builtNow } = page.checkpoints;
      if (
        liveNow?.position !== builtNow?.position ||
        liveNow?.generation !== live.generation ||
        builtNow?.generation !== built.generation
      ) {
        await catchUp(projector, slot, { ...(signal && { signal }) }, 0);
        continue;
      }
      changed += page.changes.length;
      changes.push(...page.changes.slice(0, maxChanges - changes.length));
      afterId = page.last;
    }
  }
  return { changed, changes };
}

/** Puts the new states in place; false when a checkpoint moved meanwhile. */
async function swap(
  driver: Driver,
  live: Checkpoint,
  next: Checkpoint,
  resolve: ResolveOptions,
): Promise<boolean> {
  try {
    const releases = await seedReleases(driver, { live, next, resolve });
    await driver.batch([
      expectCheckpoint("live", live),
      expectCheckpoint("next", next),
      makeLive(next),
      deleteCheckpoint("next", next),
      ...requeueOpenOrders(next.generation),
      ...releases,
    ], "write");
    return true;
  } catch (error) {
    if (isLostRace(error)) return false;
    throw error;
  }
}

async function readCheckpoints(driver: Driver): Promise<Checkpoints> {
  // From the primary, because a replica may be behind.
  const [rows] = await driver.batch([selectCheckpoints], "write");
  return checkpointsOf(rows);
}

function newerFold(version: number, projector: Projector): LedgerError {
  return new LedgerError(
    "failed",
    `A newer version has folded the ledger: fold ${version}, and this one ` +
      `knows ${projector.foldVersion}; update the package`,
  );
}

/**
 * Deletes states that no checkpoint names any more, step by step. What a kill
 * leaves is found again the next time.
 *
 * @param signal Stops between two steps.
 */
async function deleteOldGenerations(
  driver: Driver,
  signal?: AbortSignal,
): Promise<void> {
  for (const table of generationTables) {
    for (const generation of await oldGenerations(driver, table)) {
      for (;;) {
        signal?.throwIfAborted();
        const [deleted] = await driver.batch(
          [deleteSomeOf(table, generation)],
          "write",
        );
        if ((deleted?.rowsAffected ?? 0) === 0) break;
      }
    }
  }
}

/** Hops from one generation to the next, so that no row is looked at. */
async function oldGenerations(
  driver: Driver,
  table: GenerationTable,
): Promise<number[]> {
  const [rows, checkpoints] = await driver.batch(
    [selectGenerations(table), selectCheckpoints],
    "read",
  );
  const named = new Set(checkpoints?.rows.map(([, generation]) => generation));
  return rows?.rows.map(([generation]) => generation as number)
    .filter((generation) => !named.has(generation)) ?? [];
}
