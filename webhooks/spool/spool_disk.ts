/** A segment that only this process writes or drains. */
export interface SegmentFile {
  /** Bytes it has room for. */
  readonly size: number;
  /** Writes all of `bytes` at an offset. */
  write(bytes: Uint8Array, at: number): void;
  /**
   * Returns when the written data would survive a power failure.
   *
   * @throws {Deno.errors.NotFound} When the segment was removed meanwhile.
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
  const makeDirectory = (): Promise<void> =>
    Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  const syncDirectory = async (): Promise<void> => {
    using handle = await Deno.open(directory, { read: true });
    await handle.sync();
  };
  await makeDirectory();
  return {
    async list(): Promise<string[]> {
      const names: string[] = [];
      await orMissing(async () => {
        for await (const entry of Deno.readDir(directory)) {
          if (entry.isFile) names.push(entry.name);
        }
      });
      return names;
    },
    async create(name: string, size: number): Promise<SegmentFile> {
      await makeDirectory();
      // It gets its own name only when it is locked, because any process may
      // drain and remove a segment without a lock.
      const file = await Deno.open(at(`${name}.new`), {
        read: true,
        write: true,
        createNew: true,
        mode: 0o600,
      });
      try {
        await Deno.chmod(at(`${name}.new`), 0o600);
        await file.lock(true);
        const segment = segmentFile(file, at(`${name}.new`), size);
        fillWithZeros(segment, size);
        await segment.sync();
        await Deno.rename(at(`${name}.new`), at(name));
        await syncDirectory();
      } catch (error) {
        file.close();
        await orMissing(() => Deno.remove(at(`${name}.new`))).catch(() => {});
        throw error;
      }
      return segmentFile(file, at(name), size);
    },
    async claim(name: string): Promise<SegmentFile | null> {
      let file: Deno.FsFile;
      try {
        file = await Deno.open(at(name), { read: true, write: true });
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return null;
        throw error;
      }
      try {
        if (await file.tryLock(true)) {
          // Its owner may have drained and removed it just before the claim.
          const { size } = await Deno.stat(at(name));
          return segmentFile(file, at(name), size);
        }
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) {
          file.close();
          throw error;
        }
      }
      file.close();
      return null;
    },
    remove: (name: string): Promise<void> =>
      orMissing(async () => {
        await Deno.remove(at(name));
        await syncDirectory();
      }),
    rename: (from: string, to: string): Promise<void> =>
      orMissing(async () => {
        await Deno.rename(at(from), at(to));
        await syncDirectory();
      }),
  };
}

/** Runs work that may find its file or directory removed. */
async function orMissing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Overwrites a segment from its beginning. */
export function fillWithZeros(segment: SegmentFile, bytes: number): void {
  const zeros = new Uint8Array(Math.min(bytes, 256 * 1024));
  for (let at = 0; at < bytes; at += zeros.length) {
    segment.write(zeros.subarray(0, bytes - at), at);
  }
}

/** Written and read at once: the system's memory takes and gives it. */
function segmentFile(
  file: Deno.FsFile,
  path: string,
  size: number,
): SegmentFile {
  const { ino, dev } = file.statSync();
  return {
    size,
    write(bytes: Uint8Array, at: number): void {
      file.seekSync(at, Deno.SeekMode.Start);
      let written = 0;
      while (written < bytes.length) {
        written += file.writeSync(bytes.subarray(written));
      }
    },
    async sync(): Promise<void> {
      await file.syncData();
      // A removed file is lost when the process ends.
      const found = Deno.statSync(path);
      if (ino !== found.ino || dev !== found.dev) {
        throw new Deno.errors.NotFound(`${path} was replaced`);
      }
    },
    read(from: number, to: number): Uint8Array<ArrayBuffer> {
      const bytes = new Uint8Array(to - from);
      file.seekSync(from, Deno.SeekMode.Start);
      let read = 0;
      while (read < bytes.length) {
        const count = file.readSync(bytes.subarray(read));
        if (count === null) break;
        read += count;
      }
      return bytes.subarray(0, read);
    },
    close: (): void => file.close(),
  };
}
