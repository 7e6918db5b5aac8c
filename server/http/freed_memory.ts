/** Parameters of glibc's `mallopt`. */
const M_TRIM_THRESHOLD = -1;
const M_MMAP_THRESHOLD = -3;
const M_ARENA_MAX = -8;

/** A larger piece of memory goes back to the system when it is freed. */
const LARGE_PIECE_BYTES = 128 * 1024;
/** Places from which threads take the smaller pieces. */
const ARENAS = 2;

/**
 * Returns the memory of large bodies and pages to the system once they are
 * freed. By default glibc, once a large piece was freed, takes the next ones
 * from its own store, which then has gaps that nothing fits into and that stay
 * resident. Elsewhere than in Deno on Linux with glibc this does nothing.
 */
export function returnFreedMemory(): void {
  if (!("Deno" in globalThis) || Deno.build.os !== "linux") return;
  try {
    const library = Deno.dlopen("libc.so.6", {
      mallopt: { parameters: ["i32", "i32"], result: "i32" },
    });
    const { symbols } = library;
    symbols.mallopt(M_MMAP_THRESHOLD, LARGE_PIECE_BYTES);
    symbols.mallopt(M_TRIM_THRESHOLD, LARGE_PIECE_BYTES);
    symbols.mallopt(M_ARENA_MAX, ARENAS);
    library.close();
  } catch {
    // Another libc, or no permission: memory is returned later.
  }
}
