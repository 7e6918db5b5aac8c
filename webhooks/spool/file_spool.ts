import { monotonicFactory } from "ulid";
import { onDisk } from "./_disk_error.ts";
import { SegmentedSpool } from "./_segmented_spool.ts";
import { openSpoolDisk } from "./_spool_disk.ts";
import type { Spool } from "./spool.ts";

/** Where and how {@linkcode fileSpool} keeps deliveries. */
export interface FileSpoolOptions {
  /**
   * Directory of the spool, readable by its owner alone; created whenever it
   * is missing.
   */
  readonly directory: string;
  /**
   * Most bytes to keep; beyond them deliveries are refused.
   *
   * @default 1073741824
   */
  readonly maxBytes?: number;
  /**
   * Size of a segment file. A segment is removed once all of it is drained,
   * so a smaller one means less to hand over twice after a crash.
   *
   * @default 4194304
   */
  readonly segmentBytes?: number;
  /**
   * Called for bytes that are not a record: one that a crash cut short, or other
   * damage. A segment with other damage is kept under a name ending in `.damaged`
   * when the rest of it has been drained.
   *
   * @default Damage is not reported.
   */
  readonly onDamage?: (damage: SpoolDamage) => void;
  /**
   * Makes the names of segments; they sort by age.
   *
   * @default Monotonic ULIDs.
   */
  readonly newId?: () => string;
}

/** Bytes of a spool file that are not a record. */
export interface SpoolDamage {
  /** Name of the segment's file. */
  readonly segment: string;
  /** Where the bytes begin. */
  readonly offset: number;
  /** How many there are. */
  readonly bytes: number;
  /** Whether it is a record whose writing was cut short, as after a crash. */
  readonly torn: boolean;
}

/**
 * Opens a spool in a directory of the local disk.
 *
 * Every delivery is written and fsynced before {@linkcode Spool.put} resolves;
 * deliveries that arrive together share one fsync. Several processes may use
 * one directory: each writes its own segments, and a segment whose process died
 * is drained by another. Needs Deno, and permission to read and write there.
 *
 * @param options Where and how.
 * @returns The spool, with what an earlier process left in it.
 * @throws {SpoolError} When the directory cannot be read.
 * @throws {RangeError} When a limit is not a positive number.
 *
 * @example Keep a delivery, and hand it over later
 * ```ts
 * import { fileSpool } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const directory = await Deno.makeTempDir();
 * const spool = await fileSpool({ directory });
 * await spool.put({
 *   id: "01JD3Q5XK6T0V0QK3WZ5R5Q0ZV",
 *   receivedAt: "2026-11-20T12:00:00.000Z",
 *   body: new TextEncoder().encode(`{"type":"login"}`),
 * });
 * const ids: string[] = [];
 * const append = (delivery: { id: string }) => {
 *   ids.push(delivery.id);
 *   return Promise.resolve();
 * };
 * assert.equal(await spool.drain(append), 1);
 * assert.deepEqual(ids, ["01JD3Q5XK6T0V0QK3WZ5R5Q0ZV"]);
 * await spool.close();
 * await Deno.remove(directory, { recursive: true });
 * ```
 */
export async function fileSpool(options: FileSpoolOptions): Promise<Spool> {
  const maxBytes = options.maxBytes ?? 1024 * 1024 * 1024;
  const segmentBytes = options.segmentBytes ?? 4 * 1024 * 1024;
  for (const [name, value] of Object.entries({ maxBytes, segmentBytes })) {
    if (value > 0) continue;
    throw new RangeError(
      `Cannot open spool: ${name} must be positive, current value is ${value}`,
    );
  }
  const ulid = monotonicFactory();
  return SegmentedSpool.open({
    disk: await onDisk("Cannot open spool", openSpoolDisk(options.directory)),
    newName: options.newId ?? ((): string => ulid()),
    maxBytes,
    segmentBytes,
    onDamage: options.onDamage ?? ((): void => {}),
  });
}
