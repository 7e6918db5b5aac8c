import { readdir } from "node:fs/promises";
import { errorCode } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { fileSpool } from "../../webhooks/mod.ts";
import { isLeft, isSetAside } from "../../webhooks/inbox_file.ts";

/** Files of a spool that no process works on. */
export interface LeftSpoolFiles {
  /** Paths of files whose deliveries can go into the ledger, sorted. */
  readonly waiting: readonly string[];
  /** Paths of damaged files, whose rest nobody reads, sorted. */
  readonly damaged: readonly string[];
}

/**
 * Looks for files that processes which ended have left in a spool.
 *
 * @throws {Error} When it cannot be read.
 */
export async function leftSpoolFiles(
  directory: string | null,
): Promise<LeftSpoolFiles> {
  const names = directory === null ? [] : await namesIn(directory);
  const waiting: string[] = [];
  const damaged: string[] = [];
  for (const name of names.sort()) {
    const path = `${directory}/${name}`;
    if (isSetAside(name)) damaged.push(path);
    else if (isLeft(path)) waiting.push(path);
  }
  return { waiting, damaged };
}

/**
 * Looks for damaged files in a spool, without trying locks.
 *
 * @throws {Error} When it cannot be read.
 */
export async function damagedSpoolFiles(
  directory: string,
): Promise<readonly string[]> {
  return (await namesIn(directory)).filter(isSetAside).sort()
    .map((name) => `${directory}/${name}`);
}

/**
 * Takes into the ledger what processes that ended have left, as `serve` does.
 *
 * @throws {SpoolError} When a file cannot be taken over.
 * @throws {LedgerError} When the ledger takes no deliveries.
 */
export async function drainLeft(
  directory: string | null,
  ledger: Pick<Ledger, "appendRecords">,
): Promise<LeftSpoolFiles> {
  const left = await leftSpoolFiles(directory);
  if (directory === null || left.waiting.length === 0) return left;
  const spool = await fileSpool({ directory });
  try {
    await spool.tidy();
    await spool.drain(ledger.appendRecords);
    // Overwrites what the ledger has now.
    await spool.tidy();
  } finally {
    await spool.close();
  }
  return await leftSpoolFiles(directory);
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
