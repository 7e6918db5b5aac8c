import {
  closeSync,
  fdatasync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { chmod, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { errorCode, messageOf } from "../../core/guards.ts";
import { lockOfSegment, lockSegment } from "./segment_lock.ts";
import { SpoolError } from "./spool.ts";

const syncData = promisify(fdatasync);

/** A segment that only this process writes or drains. */
export interface SegmentFile {
  /** Bytes it has room for. */
  readonly size: number;
  /** Writes all of `bytes` at an offset. */
  write(bytes: Uint8Array, at: number): void;
  /**
   * Returns when the written data would survive a power failure.
   *
   * @throws {Error} With `code` `ENOENT` when it was removed meanwhile.
   */
  sync(): Promise<void>;
  /** Reads what is between two offsets, even when it was removed meanwhile. */
  read(from: number, to: number): Uint8Array<ArrayBuffer>;
  /** Closes the file and releases the segment. */
  close(): void;
}

/** The disk operations of a spool. Names are plain file names. */
export interface SpoolDisk {
  /** Names of the files there are. */
  list(): Promise<string[]>;
  /**
   * Creates a segment that did not exist, durably, full of zeros, and claims
   * it. Writing over what is there already is synced sooner than appending.
   */
  create(name: string, size: number): Promise<SegmentFile>;
  /** Claims a segment; null when another process holds it or removed it. */
  claim(name: string): Promise<SegmentFile | null>;
  /** Removes a segment for good, if it is there. */
  remove(name: string): Promise<void>;
  /** Renames a segment for good, if it is there. */
  rename(from: string, to: string): Promise<void>;
}

/**
 * The disk under `directory`, which is created whenever it is missing. Deliveries
 * hold personal data, so only the owner may read them. A claim is an advisory
 * lock, which the system releases when a process dies.
 */
export async function openSpoolDisk(directory: string): Promise<SpoolDisk> {
  const at = (name: string): string => `${directory}/${name}`;
  const unlock = (name: string): Promise<void> =>
    orMissing(() => unlink(lockOfSegment(at(name))));
  const makeDirectory = async (): Promise<void> => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  };
  const syncDirectory = async (): Promise<void> => {
    await using handle = await open(directory, "r");
    await handle.sync();
  };
  await makeDirectory();
  return {
    async list(): Promise<string[]> {
      const names: string[] = [];
      await orMissing(async () => {
        for (const entry of await readdir(directory, { withFileTypes: true })) {
          if (entry.isFile()) names.push(entry.name);
        }
      });
      return names;
    },
    async create(name: string, size: number): Promise<SegmentFile> {
      await makeDirectory();
      // It gets its own name only when it is locked, because any process may
      // drain and remove a segment without a lock.
      const unfinished = at(`${name}.new`);
      const file = openSync(unfinished, "wx+", 0o600);
      let lock: Disposable | null = null;
      try {
        lock = await lockSegment(at(name));
        if (lock === null) throw new Error(`Cannot lock ${unfinished}`);
        await chmod(unfinished, 0o600);
        const segment = segmentFile(file, unfinished, size, lock);
        await fillWithZeros(segment, size);
        await segment.sync();
        await rename(unfinished, at(name));
        await syncDirectory();
        return segmentFile(file, at(name), size, lock);
      } catch (error) {
        closeSync(file);
        await orMissing(() => unlink(unfinished)).catch(() => {});
        await unlock(name).catch(() => {});
        lock?.[Symbol.dispose]();
        throw error;
      }
    },
    async claim(name: string): Promise<SegmentFile | null> {
      let file: number;
      try {
        file = openSync(at(name), "r+");
      } catch (error) {
        if (errorCode(error) === "ENOENT") return null;
        throw error;
      }
      let lock: Disposable | null = null;
      try {
        lock = await lockSegment(at(name));
        if (lock !== null) {
          // Its owner may have drained and removed it just before the claim.
          const { size } = statSync(at(name));
          return segmentFile(file, at(name), size, lock);
        }
      } catch (error) {
        if (errorCode(error) !== "ENOENT") {
          lock?.[Symbol.dispose]();
          closeSync(file);
          throw error;
        }
        await unlock(name).catch(() => {});
      }
      lock?.[Symbol.dispose]();
      closeSync(file);
      return null;
    },
    remove: (name: string): Promise<void> =>
      orMissing(async () => {
        await unlink(at(name));
        await unlock(name);
        await syncDirectory();
      }),
    rename: (from: string, to: string): Promise<void> =>
      orMissing(async () => {
        await rename(at(from), at(to));
        await unlock(from);
        await syncDirectory();
      }),
  };
}

/** Runs work that may find its file or directory removed. */
async function orMissing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/** Overwrites a segment from its beginning, a piece at a time: deliveries are
 * answered between two pieces. */
export async function fillWithZeros(
  segment: SegmentFile,
  bytes: number,
): Promise<void> {
  const zeros = new Uint8Array(Math.min(bytes, 64 * 1024));
  for (let at = 0; at < bytes; at += zeros.length) {
    segment.write(zeros.subarray(0, bytes - at), at);
    await setImmediate();
  }
}

/** Written and read synchronously: both go through the system's memory. */
function segmentFile(
  file: number,
  path: string,
  size: number,
  lock: Disposable,
): SegmentFile {
  const { ino, dev } = fstatSync(file);
  return {
    size,
    write(bytes: Uint8Array, at: number): void {
      for (let from = 0; from < bytes.length;) {
        from += writeSync(file, bytes, from, bytes.length - from, at + from);
      }
    },
    async sync(): Promise<void> {
      await syncData(file);
      // A removed file is lost when the process ends.
      const found = statSync(path);
      if (ino !== found.ino || dev !== found.dev) {
        throw Object.assign(new Error(`${path} was replaced`), {
          code: "ENOENT",
        });
      }
    },
    read(from: number, to: number): Uint8Array<ArrayBuffer> {
      const bytes = new Uint8Array(to - from);
      let read = 0;
      while (read < bytes.length) {
        const left = bytes.length - read;
        const count = readSync(file, bytes, read, left, from + read);
        if (count === 0) break;
        read += count;
      }
      return bytes.subarray(0, read);
    },
    close: (): void => {
      closeSync(file);
      lock[Symbol.dispose]();
    },
  };
}

/** Awaits `work`; what it throws becomes a {@linkcode SpoolError}. */
export async function onDisk<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw diskError(what, error);
  }
}

/** The error of a failed disk operation. */
export function diskError(what: string, cause: unknown): SpoolError {
  if (cause instanceof SpoolError) return cause;
  const why = messageOf(cause);
  return new SpoolError("disk", `${what}: ${why}`, { cause });
}
