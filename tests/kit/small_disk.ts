/** A file system of its own that can really run full. */
export interface SmallDisk extends AsyncDisposable {
  /** Where it is mounted, for programs started through `inside`. */
  readonly path: string;
  /** The command line that runs a program where the disk can be seen. */
  inside(program: readonly string[]): readonly string[];
  /** Takes all the space but so much, in KiB. */
  fill(freeKib: number): Promise<void>;
  /** Gives back what `fill` took. */
  makeRoom(): Promise<void>;
  /** Copies what is on it into a directory that everybody can see. */
  copyTo(directory: string): Promise<void>;
}

/** Ways to a private mount namespace: as root, or as root of one's own. */
const WAYS = [
  { unshare: ["--mount"], nsenter: ["--mount"] },
  {
    unshare: ["--map-root-user", "--mount"],
    nsenter: ["--user", "--preserve-credentials", "--mount"],
  },
] as const;

/** Whether tests on a small disk are to be left out here. Says so. */
export async function isSmallDiskMissing(): Promise<boolean> {
  try {
    await using disk = await smallDisk(64);
    // To mount it is not all that a test does with it.
    await disk.fill(32);
    await disk.makeRoom();
    return false;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    console.warn(`Tests on a small disk are skipped: ${reason}`);
    return true;
  }
}

/**
 * Mounts a file system in memory, seen by nobody but the programs started
 * through it.
 *
 * A process holds the mount for as long as its standard input is open, so even
 * a test that is killed leaves nothing behind.
 */
export async function smallDisk(sizeKib: number): Promise<SmallDisk> {
  const path = await Deno.makeTempDir({ prefix: "rampkit-disk-" });
  try {
    return await mountAt(path, sizeKib);
  } catch (error) {
    await Deno.remove(path);
    throw error;
  }
}

async function mountAt(path: string, sizeKib: number): Promise<SmallDisk> {
  let refusal = "";
  for (const way of WAYS) {
    const holder = new Deno.Command("unshare", {
      args: [
        ...way.unshare,
        "sh",
        "-c",
        'mount -t tmpfs -o size="$1"k rampkit "$2" && echo && exec cat >&2',
        "sh",
        String(sizeKib),
        path,
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const said = holder.stdout.getReader();
    const isMounted = !(await said.read()).done;
    await said.cancel();
    const release = async (): Promise<string> => {
      await holder.stdin.close();
      const complaint = await new Response(holder.stderr).text();
      await holder.status;
      return complaint;
    };
    if (!isMounted) {
      refusal = await release();
      continue;
    }
    const inside = (program: readonly string[]): readonly string[] => [
      "nsenter",
      "--target",
      String(holder.pid),
      ...way.nsenter,
      ...program,
    ];
    const filler = `${path}/filler`;
    return {
      path,
      inside,
      fill: (freeKib) =>
        run(inside(["fallocate", "-l", `${sizeKib - freeKib}KiB`, filler])),
      makeRoom: () => run(inside(["rm", filler])),
      copyTo: (directory) => run(inside(["cp", "-R", `${path}/.`, directory])),
      [Symbol.asyncDispose]: async () => {
        await release();
        await Deno.remove(path);
      },
    };
  }
  throw new Error(`Cannot mount a file system: ${refusal.trim()}`);
}

async function run(line: readonly string[]): Promise<void> {
  const [command = "", ...args] = line;
  const { success, stderr } = await new Deno.Command(command, {
    args: [...args],
    stdout: "null",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
