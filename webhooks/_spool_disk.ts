/** A segment that this process writes or drains, and nobody else does. */
export interface SegmentFile {
  /** Writes all of `bytes` at the end. */
  write(bytes: Uint8Array): Promise<void>;
  /** Returns when what was written would survive the machine going down. */
  sync(): Promise<void>;
  /** Lets go of the segment. */
  close(): void;
}

/** All that the spool asks of a disk. Names are plain file names. */
export interface SpoolDisk {
  /** Names of the files there are. */
  list(): Promise<string[]>;
  /** Creates a segment that did not exist, durably, and claims it. */
  create(name: string): Promise<SegmentFile>;
  /** Claims a segment; null when another process holds it or removed it. */
  claim(name: string): Promise<SegmentFile | null>;
  /** Reads a whole segment. */
  read(name: string): Promise<Uint8Array>;
  /** Removes a segment for good. */
  remove(name: string): Promise<void>;
  /** Renames a segment for good. */
  rename(from: string, to: string): Promise<void>;
}

/**
 * The disk under `directory`, which is created when it is missing. What a
 * delivery says is personal, so only the owner may read it. A claim is an
 * advisory lock, which the system lets go of when a process dies.
 */
export async function openSpoolDisk(directory: string): Promise<SpoolDisk> {
  await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  const at = (name: string): string => `${directory}/${name}`;
  const syncDirectory = async (): Promise<void> => {
    using handle = await Deno.open(directory, { read: true });
    await handle.sync();
  };
  return {
    async list(): Promise<string[]> {
      const names: string[] = [];
      for await (const entry of Deno.readDir(directory)) {
        if (entry.isFile) names.push(entry.name);
      }
      return names;
    },
    async create(name: string): Promise<SegmentFile> {
      // Under its own name only once it is locked: a name without a lock is
      // anybody's to drain and remove.
      const file = await Deno.open(at(`${name}.new`), {
        write: true,
        createNew: true,
        mode: 0o600,
      });
      try {
        await file.lock(true);
        await Deno.rename(at(`${name}.new`), at(name));
        await syncDirectory();
      } catch (error) {
        file.close();
        throw error;
      }
      return segmentFile(file);
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
          await Deno.stat(at(name));
          return segmentFile(file);
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
    read: (name: string): Promise<Uint8Array> => Deno.readFile(at(name)),
    async remove(name: string): Promise<void> {
      await Deno.remove(at(name));
      await syncDirectory();
    },
    async rename(from: string, to: string): Promise<void> {
      await Deno.rename(at(from), at(to));
      await syncDirectory();
    },
  };
}

function segmentFile(file: Deno.FsFile): SegmentFile {
  return {
    async write(bytes: Uint8Array): Promise<void> {
      let written = 0;
      while (written < bytes.length) {
        written += await file.write(bytes.subarray(written));
      }
    },
    sync: (): Promise<void> => file.syncData(),
    close: (): void => file.close(),
  };
}
